#!/usr/bin/env python3
"""Runs every test and prints a line a stage, then 'N passed, N failed, N skipped'. Exit 1 if one failed.

Stages that need a Python package look for it in this interpreter, then in .venv (made with `pip install` when an index can
be reached). What cannot run is skipped by name, with the reason. `run_tests.py NAME...` runs only those stages.
"""
import os
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / 'build' / 'dev'
HIPFORGE = BUILD / 'hipforge'
TESTDATA = pathlib.Path('/usr/share/libonnx-testdata/data')
KNOWN = ROOT / 'tests' / 'conformance' / 'known_failures.txt'
PIP = ['numpy', 'onnx', 'onnxruntime']
COUNT = re.compile(r'(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$', re.M)


def venv_python():
    """A Python that has PIP's packages, or None and why not."""
    probe = 'import ' + ', '.join(PIP)
    for python in (sys.executable, ROOT / '.venv' / 'bin' / 'python'):
        if pathlib.Path(python).exists() and subprocess.run([python, '-c', probe], capture_output=True).returncode == 0:
            return str(python), ''
    if os.environ.get('HIPFORGE_OFFLINE'):
        return None, 'HIPFORGE_OFFLINE is set'
    venv = ROOT / '.venv'
    made = subprocess.run([sys.executable, '-m', 'venv', venv], capture_output=True, text=True)
    if made.returncode:
        return None, 'no virtual environment could be made (python3-venv)'
    got = subprocess.run([venv / 'bin' / 'pip', 'install', '-q', '--disable-pip-version-check', *PIP], capture_output=True, text=True)
    return (str(venv / 'bin' / 'python'), '') if got.returncode == 0 else (None, 'PyPI cannot be reached')


def run(command):
    r = subprocess.run([str(c) for c in command], cwd=ROOT, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    return r.returncode, r.stdout + r.stderr


def counted(command):
    """A command that ends with 'N passed, N failed'."""
    code, out = run(command)
    found = COUNT.findall(out)
    if not found:
        return 0, 1, 0, out
    passed, failed, skipped = (int(x or 0) for x in found[-1])
    if code and not failed:
        failed = 1
    return passed, failed, skipped, out


def ctest():
    code, out = run(['ctest', '--test-dir', BUILD, '-j', os.cpu_count() or 1, '--output-on-failure', '--timeout', 300])
    m = re.search(r'(\d+)% tests passed, (\d+) tests failed out of (\d+)', out)
    if not m:
        return 0, 1, 0, out
    failed, total = int(m[2]), int(m[3])
    skipped = len(re.findall(r'\*\*\*Skipped', out))
    return total - failed - skipped, failed, skipped, out


def conformance(folder, optimize):
    def stage():
        if not folder.exists():
            return 0, 0, 1, f'skipped: {folder} is missing (package libonnx-testdata)'
        return counted([HIPFORGE, 'test', folder, '--known-failures', KNOWN, '--optimize', optimize, '--jobs', os.cpu_count() or 1])
    return stage


def python_stage(script, *arguments):
    def stage():
        python, why = venv_python()
        if not python:
            return 0, 0, 1, f'skipped: {why}'
        return counted([python, script, *arguments])
    return stage


STAGES = {
    'unit, operator, pass, plan, cpu, image, loader and cli tests': ctest,
    'onnx node tests (libonnx-testdata)': conformance(TESTDATA / 'node', 'all'),
    'onnx node tests, unoptimised': conformance(TESTDATA / 'node', 'none'),
    'small exported models': conformance(ROOT / 'tests' / 'models' / 'small', 'all'),
    'small exported models, unoptimised': conformance(ROOT / 'tests' / 'models' / 'small', 'none'),
    'models of PyPI packages against onnxruntime': python_stage('tests/models/models.py', '--hipforge', HIPFORGE, '--quick'),
}


def main():
    wanted = sys.argv[1:]
    total = [0, 0, 0]
    for name, stage in STAGES.items():
        if wanted and not any(w in name for w in wanted):
            continue
        print(f'{name} ...', end='' if sys.stdout.isatty() else '\n', flush=True)
        start = time.monotonic()
        *counts, out = stage()
        total = [a + b for a, b in zip(total, counts)]
        took = time.monotonic() - start
        text = f'  {counts[0]} passed, {counts[1]} failed, {counts[2]} skipped ({took:.0f} s)'
        print(f'\r\033[K{name}\n{text}' if sys.stdout.isatty() else text, flush=True)
        for line in out.splitlines():
            if line.startswith(('skipped:', 'SKIP')):
                print(f'  {line}')
        if counts[1]:
            print('\n'.join('    ' + line for line in out.splitlines()[-60:]))
    print(f'{total[0]} passed, {total[1]} failed, {total[2]} skipped')
    return 1 if total[1] else 0


if __name__ == '__main__':
    sys.exit(main())
