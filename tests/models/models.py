#!/usr/bin/env python3
# Model tests: makes or finds each model of the catalogue, runs it under onnxruntime and hipforge, and compares.
#
#   tests/models/models.py --hipforge build/release/hipforge [--only REGEX] [--cache DIR]
#   tests/models/models.py --list | --make-only | --write-small
import argparse
import os
import re
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper

sys.path.insert(0, str(Path(__file__).resolve().parent))
import full_models  # noqa: E402, F401  (fills the catalogue; the path had to be set before)
import small_models  # noqa: E402, F401
from catalogue import CATALOGUE, FOLDER  # noqa: E402

# An output passes if its relative L2 error and its largest error, relative to its largest value, are below these.
# Integers and booleans must be equal. A model may carry its own tolerance (quantised ones do).
TOLERANCE = {  # dtype: (relative L2, largest error / largest value)
    np.dtype(np.float64): (1e-6, 1e-5),
    np.dtype(np.float32): (1e-4, 1e-3),
    np.dtype(np.float16): (5e-3, 2e-2),
}
STORED_TOLERANCE = 1e-3  # what `hipforge test` takes for the committed models, absolute and relative


class Difference(Exception):
    """An output that is not what onnxruntime gave."""


def onnxruntime_runner(path):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 2
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return lambda feeds: dict(zip(names, session.run(names, feeds)))


def file_name(value):
    return re.sub(r"[^A-Za-z0-9._-]", "_", value)


def hipforge_runner(path, binary, optimize, timeout):
    outputs = [output.name for output in onnx.load(path, load_external_data=False).graph.output]

    def run(feeds):
        with tempfile.TemporaryDirectory(prefix="hipforge-models-") as folder:
            command = [
                str(binary),
                "run",
                str(path),
                "--device",
                "cpu",
                "--optimize",
                optimize,
                "--output-dir",
                folder + "/out",
            ]
            for index, (name, array) in enumerate(feeds.items()):
                np.save(f"{folder}/in{index}.npy", array)
                command += ["--input", f"{name}={folder}/in{index}.npy"]
            os.mkdir(folder + "/out")
            done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=timeout)
            if done.returncode != 0:
                last = (done.stderr.strip() or done.stdout.strip() or "no message").splitlines()[-1]
                raise RuntimeError(f"exit {done.returncode}: {last}")
            return {name: np.load(f"{folder}/out/{file_name(name)}.npy") for name in outputs}

    return run


def run_calls(run, model):
    """Runs the model's calls in order, with its state carried from each to the next."""
    results = []
    for feeds in model.calls(np.random.default_rng(0)):
        if results:
            feeds = feeds | {name: results[-1][output] for name, output in model.carry.items()}
        results.append(run(feeds))
    return results


def compare(wanted, got, tolerance):
    """The largest absolute and the largest relative L2 difference over all outputs; raises Difference."""
    largest, relative, faults = 0.0, 0.0, []
    for call, outputs in enumerate(wanted):
        for name, want in outputs.items():
            have, where = got[call][name], f"output '{name}' of call {call}"
            if have.dtype != want.dtype or have.shape != want.shape:
                raise Difference(f"{where}: {have.dtype}{list(have.shape)} for {want.dtype}{list(want.shape)}")
            if want.dtype.kind not in "f":
                if not np.array_equal(have, want):
                    faults.append(f"{where}: {np.count_nonzero(have != want)} of {want.size} values differ")
                continue
            w, h = want.astype(np.float64), have.astype(np.float64)
            if not np.array_equal(np.isfinite(w), np.isfinite(h)):
                raise Difference(f"{where}: not finite in other places")
            w, h = w[np.isfinite(w)], h[np.isfinite(h)]
            if w.size == 0:
                continue
            difference = np.abs(w - h).max()
            l2 = np.linalg.norm(w - h) / max(np.linalg.norm(w), 1e-30)
            limits = (tolerance, 3 * tolerance) if tolerance else TOLERANCE[want.dtype]
            if l2 > limits[0] or difference > limits[1] * np.abs(w).max():
                faults.append(
                    f"{where}: relative L2 {l2:.1e}, largest difference {difference:.1e} of {np.abs(w).max():.1e}"
                )
            largest, relative = max(largest, difference), max(relative, l2)
    if faults:
        raise Difference("; ".join(faults[:3]))
    return largest, relative


def find(model, cache):
    """The model's file: the committed one, the cached one, or a new one made in the cache."""
    if model.small and (FOLDER / model.name / "model.onnx").exists():
        return FOLDER / model.name / "model.onnx"
    path = cache / (model.name.replace("/", "_") + ".onnx")
    if not path.exists():
        cache.mkdir(parents=True, exist_ok=True)
        model.make(path)
    return path


def missing(model, cache):
    """Why the model can't be had, or an empty text."""
    if model.small and (FOLDER / model.name / "model.onnx").exists():
        return ""
    packages = model.missing()
    cached = (cache / (model.name.replace("/", "_") + ".onnx")).exists()
    return f"not installed: {', '.join(packages)}" if packages and not cached else ""


def write_small(models):
    """small/NAME/model.onnx and its test_data_set_N, in the layout of ONNX's backend tests. True if all went well."""
    total, well = 0, True
    for model in models:
        try:
            size, note = write_one(model)
            total += size
        except Exception:
            traceback.print_exc()
            note = "FAILED"
        well = well and note != "FAILED"
        print(f"{model.name:28} {note}", flush=True)
    print(f"total {total:,} bytes")
    return well


def write_one(model):
    folder = FOLDER / model.name
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "model.onnx"
    path.unlink(missing_ok=True)
    model.make(path)
    proto = onnx.load(path)
    onnx.checker.check_model(proto, full_check=True)
    run, results = onnxruntime_runner(path), []
    for call, feeds in enumerate(model.calls(np.random.default_rng(0))):
        if results:
            feeds |= {name: results[-1][output] for name, output in model.carry.items()}
        results.append(run(feeds))
        data = folder / f"test_data_set_{call}"
        data.mkdir(exist_ok=True)
        for kind, values, declared in (
            ("input", feeds, proto.graph.input),
            ("output", results[-1], proto.graph.output),
        ):
            for index, value in enumerate(declared):
                tensor = numpy_helper.from_array(np.asarray(values[value.name]), value.name)
                (data / f"{kind}_{index}.pb").write_bytes(tensor.SerializeToString())
    (folder / "tolerance").write_text(f"{model.tolerance or STORED_TOLERANCE:g}\n")
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    assert path.stat().st_size <= 400_000, f"{path.stat().st_size:,} bytes are too many to be committed"
    for name, value in results[-1].items():
        assert value.size, f"output '{name}' is empty"
        assert value.dtype.kind != "f" or (np.isfinite(value).all() and np.ptp(value) > 0), (
            f"output '{name}' says nothing"
        )
    return size, f"{path.stat().st_size:8,} bytes  {len(proto.graph.node):4} nodes  {len(results)} data sets"


def describe(path):
    proto = onnx.load(path, load_external_data=False)
    opset = next((entry.version for entry in proto.opset_import if entry.domain in ("", "ai.onnx")), 0)
    return f"{opset:>5}  {len(proto.graph.node):>5}"


def main():
    parser = argparse.ArgumentParser(description="run real models under onnxruntime and hipforge and compare")
    parser.add_argument("--hipforge", type=Path, help="the hipforge program")
    parser.add_argument("--only", default="", metavar="REGEX", help="only models whose name matches")
    parser.add_argument("--cache", type=Path, default=Path(".models"), metavar="DIR", help="made models are kept here")
    parser.add_argument("--timeout", type=float, default=600, metavar="S", help="for each run of hipforge")
    parser.add_argument("--all-optimize", action="store_true", help="run the large models with --optimize none too")
    parser.add_argument("--list", action="store_true", help="name the models and stop")
    parser.add_argument("--make-only", action="store_true", help="make the models and run onnxruntime alone")
    parser.add_argument("--write-small", action="store_true", help="write the committed models under small/ anew")
    arguments = parser.parse_args()
    models = [model for model in CATALOGUE if re.search(arguments.only, model.name)]
    if arguments.list:
        for model in models:
            print(f"{model.name:28} {missing(model, arguments.cache) or 'ready':36} {model.source}")
        return 0
    if arguments.write_small:
        return 0 if write_small([model for model in models if model.small]) else 1
    if not arguments.make_only and not (arguments.hipforge and arguments.hipforge.exists()):
        parser.error("--hipforge names no program (or give --make-only)")

    counts = {"passed": 0, "failed": 0, "skipped": 0}

    def report(result, model, verdict, shape="", optimize="", numbers=""):
        counts[result] += 1
        print(f"{model.name:28} {shape:12}  {optimize:8}  {numbers:18}  {verdict} ({model.source})", flush=True)

    print(f"{'model':28} {'opset':>5}  {'nodes':>5}  {'optimize':8}  {'max diff':>8}  {'rel L2':>8}  verdict (source)")
    for model in models:
        reason = missing(model, arguments.cache)
        if reason:
            report("skipped", model, f"skipped, {reason}")
            continue
        try:
            path = find(model, arguments.cache)
            shape = describe(path)
            wanted = run_calls(onnxruntime_runner(path), model)
        except Exception as error:  # whatever an exporter throws
            if arguments.make_only:
                traceback.print_exc()
            first = (str(error).strip() or type(error).__name__).splitlines()[0]
            report("failed", model, f"FAILED to make or run under onnxruntime: {first}")
            continue
        if arguments.make_only:
            report("passed", model, f"made, {path}", shape)
            continue
        for optimize in ("all",) if model.large and not arguments.all_optimize else ("all", "none"):
            try:
                got = run_calls(hipforge_runner(path, arguments.hipforge, optimize, arguments.timeout), model)
                largest, relative = compare(wanted, got, model.tolerance)
                report("passed", model, "passed", shape, optimize, f"{largest:8.1e}  {relative:8.1e}")
            except (Difference, RuntimeError, OSError, ValueError, subprocess.TimeoutExpired) as error:
                report("failed", model, f"FAILED: {error}", shape, optimize)
    print(", ".join(f"{count} {result}" for result, count in counts.items()))
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    raise SystemExit(main())
