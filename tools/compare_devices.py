#!/usr/bin/env python3
"""Compares a model's results on a device with the cpu's, output by output.

    compare_devices.py MODEL [--device emu] [--precision fp32] [--batch N] [--every] [--program build/release/hipforge]

`--every` makes each intermediate value an output first (which keeps nodes from being fused) and names those that differ, in the
order of the nodes: the first is where to look. Needs numpy and onnx. Exit status 1 if one differs by more than --limit
(relative L2 norm of the difference).
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy
import onnx

LIMITS = {'fp32': 1e-4, 'fp16': 2e-2, 'bf16': 1e-1}


def with_every_output(source, target):
    model = onnx.load(source)
    inferred = onnx.shape_inference.infer_shapes(model)
    known = {v.name: v for v in inferred.graph.value_info}
    outputs = {v.name for v in model.graph.output}
    for node in model.graph.node:
        for name in node.output:
            if name and name not in outputs and name in known:
                model.graph.output.append(known[name])
    onnx.save(model, target)


def run(args, model, device, precision, folder):
    command = [args.program, 'run', model, '--device', device, '--repeat', '0', '--output-dir', folder, '--fallback', 'allow']
    if device != 'cpu':
        command += ['--precision', precision]
    for shape in args.shape:
        command += ['--shape', shape]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f'{device}: {done.stderr.strip()}')


def difference(got, wanted):
    if got.shape != wanted.shape:
        return float('inf')
    if wanted.dtype.kind not in 'fc':
        return float((got != wanted).mean()) if wanted.size else 0.0
    got, wanted = got.astype(numpy.float64), wanted.astype(numpy.float64)
    same = (got == wanted) | (numpy.isnan(got) & numpy.isnan(wanted))
    delta = numpy.where(same, 0, got - wanted)
    norm = numpy.linalg.norm(wanted[numpy.isfinite(wanted)])
    return float(numpy.linalg.norm(delta.ravel()) / max(norm, 1e-30)) if delta.any() else 0.0


def main():
    parser = argparse.ArgumentParser(description='a device against the cpu')
    parser.add_argument('model')
    parser.add_argument('--device', default='emu')
    parser.add_argument('--precision', default='fp32', choices=sorted(LIMITS))
    parser.add_argument('--shape', action='append', default=[])
    parser.add_argument('--every', action='store_true')
    parser.add_argument('--limit', type=float)
    parser.add_argument('--program', default=str(pathlib.Path(__file__).resolve().parent.parent / 'build/release/hipforge'))
    args = parser.parse_args()
    limit = args.limit or LIMITS[args.precision]
    with tempfile.TemporaryDirectory() as folder:
        model = args.model
        if args.every:
            model = os.path.join(folder, 'every.onnx')
            with_every_output(args.model, model)
        for device in ('cpu', args.device):
            run(args, model, device, args.precision, os.path.join(folder, device.replace(':', '_')))
        files = {p.name for p in pathlib.Path(folder, 'cpu').glob('*.npy')}
        order = [v.name for v in onnx.load(model, load_external_data=False).graph.output]
        rank = {''.join(c if c.isalnum() or c in '._-' else '_' for c in n) + '.npy': i for i, n in enumerate(order)}
        node_of = {}
        for i, node in enumerate(onnx.load(model, load_external_data=False).graph.node):
            for name in node.output:
                node_of[''.join(c if c.isalnum() or c in '._-' else '_' for c in name) + '.npy'] = (i, node.op_type)
        worst, bad = 0.0, 0
        for name in sorted(files, key=lambda n: (node_of.get(n, (1 << 30, ''))[0], rank.get(n, 0))):
            wanted = numpy.load(os.path.join(folder, 'cpu', name))
            got = numpy.load(os.path.join(folder, args.device.replace(':', '_'), name))
            d = difference(got, wanted)
            worst = max(worst, d) if d == d else float('nan')
            if not d <= limit:
                bad += 1
                print(f'{d:9.2e}  {node_of.get(name, (0, "?"))[1]:20} {list(wanted.shape)}  {name[:-4]}')
        print(f'{pathlib.Path(args.model).name} {args.device} {args.precision}: {len(files)} outputs, {bad} differ, '
              f'worst {worst:.2e} (limit {limit:g})')
        return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
