#!/usr/bin/env python3
"""Runs every test, a line a stage, then 'N passed, N failed, N skipped'. Exit 1 if one failed.

    run_tests.py [--preset dev] [WORD...]    only the stages whose name has one of the words

Stages that need Python packages use .venv, made here when PyPI can be reached (HIPFORGE_OFFLINE=1: never). What cannot
run is skipped by name, with the reason. What each stage said is in build/PRESET/tests/.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

from test_packages import python_with_packages, tested_commit

ROOT = pathlib.Path(__file__).resolve().parent.parent
TESTDATA = pathlib.Path('/usr/share/libonnx-testdata/data')
KNOWN = ROOT / 'tests' / 'conformance'
COUNT = re.compile(r'(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$', re.M)
# Lines that tell nothing when something else failed.
CHAFF = re.compile(r'Passed +[\d.]+ sec$|^ *Start +\d+: |  passed \(')
# The models that packages carry; those exported from PyTorch take long: tools/dev models.
CARRIED = '^(light_(?!vgg19|bvlc)|ocr_|silero_|magika|basic_pitch)'

# Of the small ones, those that run on the AMD emulator in every test run.
QUICK_MODELS = '^(resnet|mobilenet_v2|efficientnet|convnext_dynamo|vit|bert)$'


class Skip(Exception):
    """Why a stage cannot run."""


class Runner:
    """The stages, for the build of one preset."""

    def __init__(self, preset):
        self.preset = preset
        self.build = ROOT / 'build' / preset
        self.hipforge = self.build / 'hipforge'
        self.jobs = str(len(os.sched_getaffinity(0)))

    def stages(self):
        small, cases = ROOT / 'tests' / 'models' / 'small', ROOT / 'tests' / 'cases'
        yield 'unit tests of every layer', self.ctest
        for name, folder in (
            ('ONNX backend tests of the distribution', self.distribution_data),
            ('ONNX backend tests of the newest release', self.newest_data),
            ('bug cases', lambda: (cases, '')),
            ('small exported models', lambda: (small, '')),
        ):
            for optimize in ('all', 'none'):
                yield f'{name}, --optimize {optimize}', lambda f=folder, o=optimize: self.cases(*f(), o)
        yield 'small exported models on the emulator of kernels', self.emulated_models
        yield 'GPU drivers, kernels and models on the AMD emulator', self.amd
        yield 'models of Python packages against onnxruntime', self.models

    def run(self, *command):
        r = subprocess.run([str(c) for c in command], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                           stdin=subprocess.DEVNULL, text=True, errors='replace')
        return r.returncode, r.stdout

    def counted(self, *command):
        """A command that ends with 'N passed, N failed'."""
        code, out = self.run(*command)
        found = COUNT.findall(out)
        passed, failed, skipped = (int(n or 0) for n in found[-1]) if found else (0, 1, 0)
        return passed, failed or int(code != 0), skipped, out

    def ctest(self):
        results = self.build / 'tests' / 'results'
        shutil.rmtree(results, ignore_errors=True)
        results.mkdir(parents=True)
        (results / 'commit').write_text(tested_commit())
        _, out = self.run('ctest', '--test-dir', self.build, '-j', self.jobs, '--output-on-failure', '--timeout', 300)
        m = re.search(r'% tests passed, (\d+) tests failed out of (\d+)', out)
        if not m:
            return 0, 1, 0, out
        failed, total = int(m[1]), int(m[2])
        skipped = out.count('***Skipped')
        return total - failed - skipped, failed, skipped, out

    def cases(self, folder, release, optimize):
        """Folders of ONNX's backend tests. Some of the known failures are of one release only."""
        known = self.build / 'tests' / 'known_failures.txt'
        files = [KNOWN / 'known_failures.txt', KNOWN / f'known_failures_{release}.txt']
        known.write_text('\n'.join(f.read_text() for f in files if release and f.exists()))
        return self.counted(self.hipforge, 'test', folder, '--known-failures', known, '--optimize', optimize,
                            '--jobs', self.jobs)

    def distribution_data(self):
        if not TESTDATA.exists():
            raise Skip(f'{TESTDATA} is missing (package libonnx-testdata)')
        _, version = self.run('dpkg-query', '-W', '-f', '${Version}', 'libonnx-testdata')
        return TESTDATA, '.'.join(version.split('.')[:2])

    def newest_data(self):
        folder = ROOT / '.models' / 'onnx'
        code, out = self.run(self.python(), KNOWN / 'newest.py', folder)
        if code:
            raise RuntimeError(out)
        return folder, '.'.join(out.split()[-1].split('.')[:2])

    def python(self):
        python, why = python_with_packages()
        if not python:
            raise Skip(why)
        return python

    def emulated_models(self):
        os.environ.setdefault('HIPFORGE_CACHE', str(self.build / 'test_cache'))
        return self.counted(sys.executable, 'tools/model_tests.py', '--program', self.hipforge, '--device', 'emu',
                            '--precision', 'fp32,fp16', '--json', self.build / 'tests' / 'results' / 'emu.models.json')

    def amd(self):
        """One target of each family, some models; tools/dev amd runs all of them."""
        return self.counted(sys.executable, 'tools/amd_tests.py', '--preset', self.preset, '--targets', 'gfx942,gfx1100',
                            '--orders', 'forward,reverse', '--precision', 'fp16', '--models', QUICK_MODELS)

    def models(self):
        return self.counted(self.python(), 'tests/models/models.py', '--hipforge', self.hipforge, '--only', CARRIED)


def run_stage(stage):
    try:
        return stage()
    except Skip as why:
        return 0, 0, 1, f'skipped: {why}'
    except Exception as error:  # a stage that breaks is a failed one
        return 0, 1, 0, f'{type(error).__name__}: {error}'


def report(name, counts, seconds, out, log):
    passed, failed, skipped = counts
    line = f'{passed:5} passed, {failed} failed, {skipped} skipped  {seconds:4.0f} s  {name}'
    print(f'\r\033[K{line}' if sys.stdout.isatty() else line, flush=True)
    for line in out.splitlines():
        if re.search(r'^skipped: |  skipped, ', line):
            print('      ' + re.sub(' +', ' ', line))
    if failed:
        lines = [line for line in out.splitlines() if not CHAFF.search(line)]
        print('\n'.join('      ' + line for line in lines[-60:]))
        print(f'      (all of it: {log.relative_to(ROOT)})')


def main():
    parser = argparse.ArgumentParser(description='run every test')
    parser.add_argument('--preset', default='dev', help='the build to test')
    parser.add_argument('words', nargs='*', help='only the stages whose name has one of these')
    arguments = parser.parse_args()
    runner = Runner(arguments.preset)
    logs = runner.build / 'tests'
    logs.mkdir(parents=True, exist_ok=True)
    total = [0, 0, 0]
    for number, (name, stage) in enumerate(runner.stages(), 1):
        if arguments.words and not any(word in name for word in arguments.words):
            continue
        if sys.stdout.isatty():
            print(f'{name} ...', end='', flush=True)
        start = time.monotonic()
        *counts, out = run_stage(stage)
        log = logs / f'stage_{number}.log'
        log.write_text(out)
        report(name, counts, time.monotonic() - start, out, log)
        total = [a + b for a, b in zip(total, counts)]
    print(f'{total[0]} passed, {total[1]} failed, {total[2]} skipped')
    return 1 if total[1] else 0


if __name__ == '__main__':
    sys.exit(main())
