#!/usr/bin/env python3
"""Makes docs/verified.md: which kernels were verified for which target, and how. Nothing in it is written by hand.

    verified.py [--preset dev]       takes in the results of `make test` and `tools/dev amd` that are in build/PRESET
    verified.py --cuda FILE... --where "NVIDIA H200, driver 580"     those of a GPU: what test_kernel, test_gpu and
                                     test_lower wrote by --gtest_output=xml:FILE, and model_tests.py by --json FILE.json
    verified.py --check              exit 1 unless docs/verified.md is what docs/verified.json says

docs/verified.json keeps what was taken in: a column for each way of running, replaced whole by newer results of it.
"""
import argparse
import collections
import json
import pathlib
import re
import sys
import time
import xml.etree.ElementTree

from test_packages import tested_commit

ROOT = pathlib.Path(__file__).resolve().parent.parent
STORE, PAGE = ROOT / 'docs' / 'verified.json', ROOT / 'docs' / 'verified.md'

# Columns in the page's order, and their titles.
EXECUTED = {
    'emu': 'host, waves of 32', 'emu_gfx942': 'host, waves of 64',
    'gfx90a': 'gfx90a', 'gfx942': 'gfx942', 'gfx1030': 'gfx1030', 'gfx1100': 'gfx1100', 'gfx1201': 'gfx1201',
    'cuda': 'CUDA',
}
COMPILED = ['gfx90a', 'gfx942', 'gfx1030', 'gfx1100', 'gfx1151', 'gfx1201', 'sm_80', 'sm_90']

HEAD = """# What is verified, and how

Made by `tools/verified.py` from the results of test runs; not written by hand. A number counts the tests that passed; `n!` means that
n failed; an empty cell, that none ran. Nothing here ran on AMD hardware.

- **host**: the kernel's own text, compiled for the CPU and run by the emulator driver (`emu`).
- **gfx...**: AMD machine code, made by clang 19 and executed on the CPU by our emulator of the instruction sets (`tools/amdgpu`),
  with registers and memory that begin as NaN, the waves of a block forward, in reverse, or with work as late as the API allows.
  It is exact about results and accesses, and says nothing of speed. A test counts if it passed in every order that was run.
- **CUDA**: the same text, compiled by NVRTC, on a GPU.
- Whole models run in float32 and, unless that would be meaningless, in float16. `*`: the CPU helps with some of their nodes.
"""


class Results:
    """(row, column) -> test -> did it pass."""

    def __init__(self):
        self.tests = collections.defaultdict(dict)
        self.helped = collections.defaultdict(set)  # (row, column) -> tests in which the CPU did a part
        self.commits = {}  # column -> what was tested
        self.commit = ''  # that of what is being added
        self.orders = collections.defaultdict(set)  # column -> how the emulator ran

    def add(self, row, column, test, passed):
        """A test that ran several times passed if it always did."""
        cell = self.tests[row, column]
        cell[test] = cell.get(test, True) and passed
        self.commits[column] = self.commit

    def columns(self):
        return {column for _, column in self.tests}

    def cells(self, column):
        cells = {}
        for (row, of), tests in self.tests.items():
            if of == column:
                passed = sum(tests.values())
                cells[row] = [passed, len(tests) - passed] + ([len(h)] if (h := self.helped.get((row, of))) else [])
        return cells


def read_gtest(path, results, device=None):
    """A file of gtest's XML. `device` stands for the parameter 'hip', or for any where the tests have none."""
    for case in xml.etree.ElementTree.parse(path).getroot().iter('testcase'):
        source = re.search(r'tests/([a-z]+)/([a-z_0-9]+)\.cpp$', case.get('file', ''))
        if case.get('result') != 'completed' or not source:
            continue  # skipped: the device or compiler was not there
        name, _, parameter = case.get('name').partition('/')
        failures = [failure.text or '' for failure in case.findall('failure')]
        test = f'{case.get("classname")}.{name}'
        if case.get('classname') == 'Arch/Targets':
            read_compiled(case, parameter, failures, results)
        elif parameter in ('emu', 'emu_gfx942', 'cuda'):
            results.add(f'{source[1]}/{source[2]}', parameter, test, not failures)
        elif device and (parameter.startswith('hip') or source[1] in ('lower', 'engine')):
            results.add(f'{source[1]}/{source[2]}', device, f'{test}/{parameter}', not failures)
        elif not device and source[1] in ('lower', 'engine'):
            results.add(f'{source[1]}/{source[2]}', 'emu', f'{test}/{parameter}', not failures)


def read_compiled(case, arch, failures, results):
    """The properties of a compile test: how many kernels of each family there were."""
    for number in case.iter('property'):
        family = number.get('name')
        bad = sum(bool(re.search(rf'^{family} ', failure, re.M)) for failure in failures)
        for kernel in range(int(number.get('value'))):
            results.add(f'kernel/{family}', f'compiled {arch}', str(kernel), kernel >= bad)


def read_models(path, column, results):
    """A report of model_tests.py."""
    for case in json.loads(path.read_text())['cases']:
        row = f'models/{case["name"]}'
        results.add(row, column, case['precision'], case['result'] == 'passed')
        if case['partly']:
            results.helped[row, column].add(case['precision'])


def collect(build):
    results = Results()
    for folder in (build / 'tests' / 'results', build / 'tests' / 'amd'):
        results.commit = (folder / 'commit').read_text().strip() if (folder / 'commit').exists() else ''
        for path in sorted(folder.rglob('*.xml')):
            emulated = path.name.split('.')[:2] if folder.name == 'amd' else None
            read_gtest(path, results, emulated and emulated[0])
            if emulated:
                results.orders[emulated[0]].add(emulated[1])
        for path in sorted(folder.glob('*.models.json')):
            read_models(path, path.name.split('.')[0], results)
    return results


def take_in(results, where):
    """Replaces the columns that there are results for."""
    store = json.loads(STORE.read_text()) if STORE.exists() else {'columns': {}, 'rows': {}}
    for column in results.columns():
        for cells in store['rows'].values():
            cells.pop(column, None)
        for row, cell in results.cells(column).items():
            store['rows'].setdefault(row, {})[column] = cell
        store['columns'][column] = {'date': time.strftime('%Y-%m-%d', time.gmtime()), 'commit': results.commits[column]}
        orders = ', '.join(sorted(results.orders.get(column, ())))
        if where or orders:
            store['columns'][column]['where'] = where or f'x86-64 CPU, waves: {orders}'
    store = {'columns': dict(sorted(store['columns'].items())),
             'rows': {row: dict(sorted(cells.items())) for row, cells in sorted(store['rows'].items()) if cells}}
    rows = ',\n'.join(f'  {json.dumps(row)}: {json.dumps(cells)}' for row, cells in store['rows'].items())
    columns = ',\n'.join(f'  {json.dumps(column)}: {json.dumps(of)}' for column, of in store['columns'].items())
    STORE.write_text(f'{{"columns": {{\n{columns}\n}}, "rows": {{\n{rows}\n}}}}\n')


def cell_text(cell):
    if cell is None:
        return ''
    passed, failed, *helped = cell
    return f'{passed}{"*" if helped else ""}' + (f', {failed}!' if failed else '')


def table(store, layer, columns, first):
    """Rows of a layer; `columns` is key -> title. Columns without results are left out."""
    rows = {row.split('/', 1)[1]: cells for row, cells in store['rows'].items() if row.startswith(layer + '/')}
    columns = {key: title for key, title in columns.items() if any(key in cells for cells in rows.values())}
    rows = {row: cells for row, cells in rows.items() if any(key in cells for key in columns)}
    if rows:
        yield f'| {first} | ' + ' | '.join(columns.values()) + ' |'
        yield '|---|' + '--:|' * len(columns)
        for row, cells in rows.items():
            yield f'| {row} | ' + ' | '.join(cell_text(cells.get(key)) for key in columns) + ' |'


def page(store):
    compiled = {f'compiled {arch}': arch for arch in COMPILED}
    sections = [
        ('Kernels, executed', 'kernel', EXECUTED, 'tests of'),
        ('Kernels, compiled', 'kernel', compiled, 'kernels of the family'),
        ('Operators through the engine', 'lower', EXECUTED, 'tests of'),
        ('The engine', 'engine', EXECUTED, 'tests of'),
        ('Whole models', 'models', EXECUTED, 'model (runs with right results)'),
        ('Drivers', 'gpu', EXECUTED, 'tests of'),
    ]
    text = HEAD
    for title, *what in sections:
        lines = list(table(store, *what))
        if lines:
            text += f'\n## {title}\n' + '\n'.join(lines) + '\n'
    text += '\n## When\n| column | date | commit | where |\n|---|---|---|---|\n'
    for key, column in store['columns'].items():
        title = EXECUTED.get(key, key)
        text += f'| {title} | {column["date"]} | {column["commit"]} | {column.get("where", "x86-64 CPU")} |\n'
    return text


def main():
    parser = argparse.ArgumentParser(description='which kernels were verified for which target, and how')
    parser.add_argument('--preset', default='dev', help='whose results are taken in')
    parser.add_argument('--cuda', nargs='+', type=pathlib.Path, metavar='FILE', help='results of an NVIDIA GPU instead')
    parser.add_argument('--where', default='', help='the machine of --cuda')
    parser.add_argument('--check', action='store_true', help='only whether the page is current')
    arguments = parser.parse_args()
    if arguments.check:
        current = not STORE.exists() or (PAGE.exists() and PAGE.read_text() == page(json.loads(STORE.read_text())))
        print('' if current else 'docs/verified.md is not what docs/verified.json says; run tools/verified.py')
        return 0 if current else 1
    if arguments.cuda:
        if not arguments.where:
            parser.error('--cuda needs --where')
        results = Results()
        results.commit = tested_commit()
        for path in arguments.cuda:
            if path.suffix == '.json':
                read_models(path, 'cuda', results)
            else:
                read_gtest(path, results, 'cuda')
        results.tests = {key: tests for key, tests in results.tests.items() if 'emu' not in key[1]}
    else:
        results = collect(ROOT / 'build' / arguments.preset)
    take_in(results, arguments.where)
    PAGE.write_text(page(json.loads(STORE.read_text())))
    for column in sorted(results.columns()):
        cells = results.cells(column).values()
        print(f'{column:20} {sum(c[0] for c in cells):5} passed, {sum(c[1] for c in cells)} failed')
    return 0


if __name__ == '__main__':
    sys.exit(main())
