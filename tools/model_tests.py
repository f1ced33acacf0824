#!/usr/bin/env python3
"""Whole small models (tests/models/small) on a device, against stored results of onnxruntime; then 'N passed, N failed'.

    model_tests.py --program build/dev/hipforge --device emu [--precision fp32,fp16] [--only REGEX] [--json FILE]

Each model is first run with --fallback error; where the device does not take every node, again with the CPU's help, which
is told. Reduced precisions have tolerances of their own. Settings of drivers and of the emulator are the environment's.
"""
import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SMALL = pathlib.Path(__file__).resolve().parent.parent / 'tests' / 'models' / 'small'
# Relative and absolute, for outputs of about 1; float32 keeps the models' own.
TOLERANCES = {'fp32': 0, 'fp16': 0.03, 'bf16': 0.2}
# Which boxes detectors keep, and in what order, hangs on the last bits of scores.
FP32_ONLY = re.compile('_nms$')
NOT_TAKEN = 'the device does not take '


def copy_cases(names, precision, folder):
    """The cases with the tolerance of a precision."""
    for name in names:
        shutil.copytree(SMALL / name, folder / name)
        tolerance = folder / name / 'tolerance'
        tolerance.write_text(f'{max(float(tolerance.read_text()), TOLERANCES[precision])}\n')
    return [folder / name for name in names]


def run(program, device, precision, fallback, cases, timeout):
    """hipforge test's own report of the cases."""
    command = [program, 'test', *cases, '--device', device, '--precision', precision, '--fallback', fallback, '--json',
               '--timeout', timeout]
    if not cases:
        return []
    r = subprocess.run([str(word) for word in command], capture_output=True, text=True, errors='replace')
    try:
        return json.loads(r.stdout)['cases']
    except json.JSONDecodeError:
        last = (r.stderr.strip().splitlines() or [f'status {r.returncode}'])[-1]
        return [{'name': case.name, 'path': str(case), 'result': 'failed', 'reason': last} for case in cases]


def test(program, device, precision, names, timeout):
    """The cases of a precision, each with `partly`: why it did not run wholly on the device, or nothing."""
    with tempfile.TemporaryDirectory() as folder:
        cases = copy_cases(names, precision, pathlib.Path(folder))
        found = {case['name']: case for case in run(program, device, precision, 'error', cases, timeout)}
        partly = {name: case['reason'] for name, case in found.items() if NOT_TAKEN in case['reason']}
        again = [case for case in cases if case.name in partly]
        found |= {case['name']: case for case in run(program, device, precision, 'allow', again, timeout)}
    return [{'name': name, 'precision': precision, 'result': found[name]['result'], 'reason': found[name]['reason'],
             'partly': partly.get(name, '')} for name in names]


def main():
    parser = argparse.ArgumentParser(description='whole small models on a device')
    parser.add_argument('--program', required=True, type=pathlib.Path, help='hipforge')
    parser.add_argument('--device', default='emu')
    parser.add_argument('--precision', default='fp32', help='of fp32, fp16, bf16')
    parser.add_argument('--only', default='', metavar='REGEX', help='models whose name matches')
    parser.add_argument('--timeout', type=float, default=900, metavar='S', help='for each model')
    parser.add_argument('--json', type=pathlib.Path, metavar='FILE')
    arguments = parser.parse_args()
    names = sorted(path.parent.name for path in SMALL.glob('*/model.onnx') if re.search(arguments.only, path.parent.name))
    cases = [case for precision in arguments.precision.split(',')
             for case in test(arguments.program.resolve(), arguments.device, precision,
                              [name for name in names if precision == 'fp32' or not FP32_ONLY.search(name)],
                              arguments.timeout)]
    if arguments.json:
        arguments.json.write_text(json.dumps({'device': arguments.device, 'cases': cases}, indent=1) + '\n')
    for case in cases:
        said = case['reason']
        verdict = 'FAILED' if case['result'] != 'passed' else 'partly' if case['partly'] else 'passed'
        if verdict == 'partly':
            said = 'without ' + case['partly'].partition(NOT_TAKEN)[2].partition('; --fallback')[0]
        print(f'{verdict}  {arguments.device} {case["precision"]} {case["name"]}' + (f': {said}' if said else ''))
    failed = sum(case['result'] != 'passed' for case in cases)
    whole = sum(case['result'] == 'passed' and not case['partly'] for case in cases)
    print(f'{whole} of {len(cases)} ran wholly on {arguments.device}')
    print(f'{len(cases) - failed} passed, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
