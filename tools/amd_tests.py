#!/usr/bin/env python3
"""The tests of GPU drivers and kernels on the AMD emulator (tools/amdgpu), then 'N passed, N failed, N skipped'.

    amd_tests.py [--preset dev] [--targets gfx942,gfx1100] [--orders forward,reverse,late] [--filter '*Softmax*']
                 [--models REGEX] [--precision fp32,fp16]

Runs whatever tests of build/PRESET/tests/ have 'hip' as a parameter, test_lower on the emulated device, then whole
small models (model_tests.py); compiles these models for the targets and looks for kernels that keep registers in memory.
Unfinished tests of a program that dies are run again without the one that killed it. What each program said, and
gtest's XML, is in build/PRESET/tests/amd/.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

from test_packages import tested_commit

ROOT = pathlib.Path(__file__).resolve().parent.parent
TARGETS = ['gfx90a', 'gfx942', 'gfx1030', 'gfx1100', 'gfx1201']
# How the emulator runs, by its own settings. Fresh registers and memory hold NaN in all of them.
ORDERS = {
    'forward': {},
    'reverse': {'AMDEMU_REVERSE': '1'},  # the waves of a block in reverse order
    'late': {'AMDEMU_ASYNC': '1'},  # work as late as the API allows
}
TESTED = {'HIPFORGE_TEST_DEVICE': 'hip:0'}
TESTS_A_RUN = 12  # of one process, so that the cores end together
RUN_SECONDS = 900
ON_THE_TESTED_DEVICE = {'test_lower'}  # all of whose tests run on HIPFORGE_TEST_DEVICE
VERDICT = re.compile(r'^\[  (     OK|FAILED |SKIPPED) \] (\S+?)(?:,.*)? \(\d+ ms\)', re.M)

Outcome = collections.namedtuple('Outcome', 'name verdict text')


def why_not(build):
    """Why the tests cannot run, or nothing."""
    if not (build / 'tools' / 'amdgpu' / 'libamdhip64.so').exists():
        return 'the AMD emulator is not built (package llvm-19-dev, x86-64)'
    lacking = [name for name in ('clang++-19', 'ld.lld-19') if not shutil.which(name)]
    return f'{" and ".join(lacking)} not found (packages clang-19, lld-19)' if lacking else ''


def hip_tests(program, pattern):
    """The full names of a program's tests that want the HIP runtime."""
    out = subprocess.run([program, '--gtest_list_tests', f'--gtest_filter={pattern}'], capture_output=True, text=True,
                         env=os.environ | TESTED)
    suite, names = '', []
    for line in out.stdout.splitlines():
        if re.match(r'\S+\.( |$)', line):
            suite = line.split()[0]
        elif re.match(r'  \S*/hip\w*( |$)', line) or program.name in ON_THE_TESTED_DEVICE and line.startswith('  '):
            names.append(suite + line.split()[0])
    return names


def settings(build, target, order):
    """The environment in which a program finds the emulator in place of ROCm."""
    return os.environ | {
        'HIPFORGE_ROCM': str(build / 'tools' / 'amdgpu'),
        'HIPFORGE_CACHE': str(build / 'test_cache'),
        'AMDEMU_ARCH': target,
        'AMDEMU_TIMEOUT': '300',
    } | TESTED | ORDERS[order]


class Run:
    """Some tests of one program, on one target, in one order."""

    def __init__(self, build, target, order, program, tests, number):
        self.build, self.target, self.order, self.program, self.tests = build, target, order, program, tests
        self.log = build / 'tests' / 'amd' / f'{target}.{order}.{program.name}.{number}'

    def outcomes(self):
        left, all_of_it, attempt = list(self.tests), [], 0
        while left:
            output, died = self.once(left, attempt)
            found = {name: verdict.strip() for verdict, name in VERDICT.findall(output)}
            done = [Outcome(name, verdict, self.said(output, name)) for name, verdict in found.items() if name in left]
            left = [name for name in left if name not in found]
            if left and died:
                started = re.findall(r'^\[ RUN      \] (\S+)', output, re.M)
                killer = started[-1] if started and started[-1] in left else left[0]
                done.append(Outcome(killer, 'FAILED', f'{died}\n{self.said(output, killer)}'))
                left.remove(killer)
            elif left:
                done += [Outcome(name, 'FAILED', 'did not run') for name in left]
                left = []
            all_of_it += done
            attempt += 1
        return all_of_it

    def once(self, tests, attempt):
        """One process: what it printed, and how it died if it did."""
        command = [self.program, f'--gtest_filter={":".join(tests)}', f'--gtest_output=xml:{self.log}.{attempt}.xml']
        with open(f'{self.log}.{attempt}.log', 'w+', errors='replace') as log:
            died = ''
            try:
                code = subprocess.run(command, env=settings(self.build, self.target, self.order), stdout=log, stderr=subprocess.STDOUT,
                                      stdin=subprocess.DEVNULL, cwd=ROOT, timeout=RUN_SECONDS).returncode
                if code < 0:
                    died = f'ended by {signal.Signals(-code).name}'
                elif code > 1:
                    died = f'ended with status {code}'
            except subprocess.TimeoutExpired:
                died = f'took more than {RUN_SECONDS} s'
            log.seek(0)
            return log.read(), died

    @staticmethod
    def said(output, name):
        """What was printed while the test ran."""
        _, _, rest = output.partition(f'[ RUN      ] {name}\n')
        return re.split(r'^\[[ A-Z]{10}\] ', rest, maxsplit=1, flags=re.M)[0].strip()


def all_runs(build, targets, orders, pattern):
    programs = {program: hip_tests(program, pattern)
                for program in sorted((build / 'tests').glob('test_*')) if os.access(program, os.X_OK) and program.is_file()}
    for target in targets:
        for order in orders:
            for program, tests in programs.items():
                for at in range(0, len(tests), TESTS_A_RUN):
                    yield Run(build, target, order, program, tests[at:at + TESTS_A_RUN], at // TESTS_A_RUN)


def run_models(build, target, order, models, precision):
    """Whole models on a target: how many passed and failed."""
    command = [sys.executable, ROOT / 'tools' / 'model_tests.py', '--program', build / 'hipforge', '--device', 'hip:0',
               '--only', models, '--precision', precision,
               '--json', build / 'tests' / 'amd' / f'{target}.{order}.models.json']
    r = subprocess.run([str(word) for word in command], env=settings(build, target, order), stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True, errors='replace')
    found = re.search(r'^(\d+) passed, (\d+) failed$', r.stdout, re.M)
    for line in r.stdout.splitlines() if r.returncode else []:
        if line.startswith('FAILED') or not found:
            print(line.replace('FAILED ', f'FAILED  {target} {order}', 1))
    whole = re.search(r'^\d+ of \d+ ran wholly', r.stdout, re.M)
    passed, failed = (int(found[1]), int(found[2])) if found else (0, 1)
    print(f'{passed:5} passed, {failed} failed, 0 skipped  {target} {order}, models ({whole[0] if whole else "none"} on it)')
    return collections.Counter(OK=passed, FAILED=failed)


def look_for_spills(build, targets, models, precision):
    """Compiles the small models for the targets: how many have no kernel that keeps registers in memory, and how many do."""
    count = collections.Counter()
    for model in sorted((ROOT / 'tests' / 'models' / 'small').glob('*/model.onnx')):
        if not re.search(models, model.parent.name):
            continue
        for stored in precision.split(','):
            command = [build / 'hipforge', 'compile', model, '--target', ','.join(targets), '--precision', stored, '--json',
                       '--fallback', 'allow']
            r = subprocess.run(command, env=os.environ | {'HIPFORGE_CACHE': str(build / 'test_cache')}, capture_output=True, text=True)
            report = json.loads(r.stdout) if r.returncode == 0 else {'targets': []}
            for target in report['targets']:
                spilled = [f'{k["family"]} {k["variant"]}: {k["spills"]}' for k in target['kernels'] if k['spills']]
                count['FAILED' if spilled else 'OK'] += 1
                if spilled:
                    print(f'FAILED  {target["target"]} spills of {model.parent.name} in {stored}: {", ".join(sorted(set(spilled)))}')
            if r.returncode:
                count['FAILED'] += 1
                print(f'FAILED  {model.parent.name} in {stored} does not compile: {r.stderr.strip()}')
    print(f'{count["OK"]:5} passed, {count["FAILED"]} failed, 0 skipped  spills of models', flush=True)
    return count


def main():
    parser = argparse.ArgumentParser(description='GPU tests on the AMD emulator')
    parser.add_argument('--preset', default='dev', help='the build to test')
    parser.add_argument('--targets', default=','.join(TARGETS), help='devices to emulate')
    parser.add_argument('--orders', default=','.join(ORDERS), help=f'of {", ".join(ORDERS)}')
    parser.add_argument('--filter', default='*', help="tests, as gtest's own filter")
    parser.add_argument('--models', default='.', metavar='REGEX', help="small models whose name matches; '' for none")
    parser.add_argument('--precision', default='fp32,fp16', help='of the models')
    arguments = parser.parse_args()
    build = ROOT / 'build' / arguments.preset
    reason = why_not(build)
    if reason:
        print(f'skipped: {reason}\n0 passed, 0 failed, 1 skipped')
        return 0
    shutil.rmtree(build / 'tests' / 'amd', ignore_errors=True)
    (build / 'tests' / 'amd').mkdir(parents=True)
    (build / 'tests' / 'amd' / 'commit').write_text(tested_commit())
    counts, total, start = {}, collections.Counter(), time.monotonic()
    targets, orders = arguments.targets.split(','), arguments.orders.split(',')
    runs = list(all_runs(build, targets, orders, arguments.filter))
    left = collections.Counter((run.target, run.order) for run in runs)
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for run, outcomes in zip(runs, pool.map(Run.outcomes, runs)):
            key = run.target, run.order
            count = counts.setdefault(key, collections.Counter())
            for outcome in outcomes:
                count[outcome.verdict] += 1
                if outcome.verdict == 'FAILED':
                    print(f'FAILED  {run.target} {run.order} {run.program.name} {outcome.name}\n{outcome.text}')
            left[key] -= 1
            if not left[key]:
                print(f'{count["OK"]:5} passed, {count["FAILED"]} failed, {count["SKIPPED"]} skipped  '
                      f'{run.target} {run.order}  ({time.monotonic() - start:.0f} s)', flush=True)
                total += count
    for target in targets if arguments.models else []:
        for order in orders:
            total += run_models(build, target, order, arguments.models, arguments.precision)
    if arguments.models:
        total += look_for_spills(build, targets, arguments.models, arguments.precision)
    if not total['OK']:
        total['FAILED'] += 1
        print('no test ran on the emulator')
    print(f'{total["OK"]} passed, {total["FAILED"]} failed, {total["SKIPPED"]} skipped')
    return 1 if total['FAILED'] else 0


if __name__ == '__main__':
    sys.exit(main())
