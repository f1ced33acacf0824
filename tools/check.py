#!/usr/bin/env python3
"""The rules that a machine checks: `tools/dev lint` runs this. Exit 1 and one line a finding. --files: lines by folder.

  layers     an #include that tools/layers.txt does not allow
  size       a source file over 800 lines, src/ over its budget; the median and p90 are reported
  first      a source file whose first line is not a comment that says what it is for
  includes   a name of a standard header that neither the file nor a header of ours that it includes asks for
  settings   the environment is read only in src/base/settings.cpp
  docs       generated documents are current
  format     clang-format (skipped with a note if it is not installed)
"""
import pathlib
import re
import shutil
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MAX_LINES = 800
SOURCE = {'.cpp', '.h', '.hip', '.py', '.sh', '.def', '.proto'}
CODE = {'.cpp', '.h', '.def'}


def tracked():
    out = subprocess.run(['git', 'ls-files', '-co', '--exclude-standard', '-z'], cwd=ROOT, capture_output=True, check=True).stdout
    return [pathlib.Path(p) for p in out.decode().split('\0') if p and (ROOT / p).is_file()]


def read(path):
    return (ROOT / path).read_text(encoding='utf-8')


def layers():
    allowed = {}
    for line in read('tools/layers.txt').splitlines():
        if line and not line.startswith('#'):
            name, _, rest = line.partition(':')
            allowed[name.strip()] = set(rest.split())
    return allowed


def check_layers(files):
    allowed = layers()
    for path in files:
        if path.parts[0] != 'src' or path.suffix not in CODE or len(path.parts) < 3:
            continue
        layer = path.parts[1]
        if layer not in allowed:
            yield f'{path}: folder {layer} is not in tools/layers.txt'
            continue
        for number, line in enumerate(read(path).splitlines(), 1):
            m = re.match(r'\s*#include "([a-z]+)/', line)
            if m and m[1] in allowed and m[1] != layer and m[1] not in allowed[layer]:
                yield f'{path}:{number}: layer {layer} may not include {m[1]}/'


def check_files(files):
    sizes = []
    for path in files:
        if path.suffix not in SOURCE:
            continue
        text = read(path)
        lines = text.count('\n')
        if path.parts[0] == 'src':
            sizes.append(lines)
        if lines > MAX_LINES:
            yield f'{path}: {lines} lines, at most {MAX_LINES}: split it by subject'
        first = text.split('\n', 1)[0]
        if not first.startswith(('//', '#', '"""')):
            yield f'{path}: the first line should be a comment that says what the file is for'
    if sizes:
        sizes.sort()
        print(f'src: {len(sizes)} files, {sum(sizes)} lines, median {statistics.median(sizes):.0f}, '
              f'p90 {sizes[int(len(sizes) * 0.9)]}, largest {sizes[-1]}')
        budget = int(read('tools/budget.txt').split()[-1])
        if sum(sizes) > budget:
            yield f'src has {sum(sizes)} lines, the budget in tools/budget.txt is {budget}'


# Standard headers that come in by way of others with one compiler and not with the next, and the names that need them.
NEEDS = {
    'algorithm': r'(sort|stable_sort|partial_sort|nth_element|find|find_if|any_of|all_of|none_of|count|count_if|copy|copy_n|'
                 r'fill|fill_n|reverse|rotate|transform|equal|max_element|min_element|minmax_element|lower_bound|upper_bound|'
                 r'binary_search|next_permutation|unique|remove|remove_if|replace|generate|min|max|minmax|clamp|for_each)\(',
    'cmath': r'(sqrt|exp|log|pow|floor|ceil|abs|fabs|isnan|isinf|isfinite|round|nearbyint|lround|tanh|sin|cos|erf|fmod)\(',
    'cstring': r'(memcpy|memset|memmove|memcmp|strlen|strcmp|strerror)\(',
    'functional': r'(function|hash|less|greater|plus|multiplies|invoke)\b',
    'limits': r'numeric_limits\b',
    'numeric': r'(iota|accumulate|inner_product|partial_sum|gcd|lcm|reduce)\(',
    'array': r'array\b', 'map': r'map\b', 'set': r'set\b', 'memory': r'(unique_ptr|shared_ptr|make_unique|make_shared)\b',
    'optional': r'optional\b', 'sstream': r'o?stringstream\b', 'unordered_map': r'unordered_map\b', 'variant': r'(variant|visit)\b',
}


def check_includes(files):
    seen = {}

    def includes(path):
        if path not in seen:
            seen[path] = set()  # of a circle, the part that is known
            found = set()
            for system, own in re.findall(r'^\s*#\s*include (?:<(.+?)>|"(.+?)")', read(path), re.M):
                found |= {system} if system else set().union(
                    *(includes(at) for at in (f'src/{own}', f'tests/{own}') if (ROOT / at).is_file()))
            seen[path] = found
        return seen[path]

    for path in files:
        if path.parts[0] in {'src', 'tests'} and path.suffix in {'.cpp', '.h'}:
            text = re.sub(r'//.*', '', read(path))
            for header, names in NEEDS.items():
                if header not in includes(str(path)) and re.search(rf'\bstd::{names}', text):
                    yield f'{path}: uses a name of <{header}> without including it'


def check_settings(files):
    for path in files:
        if path.parts[0] == 'src' and path.suffix in CODE and path.name != 'settings.cpp':
            for number, line in enumerate(read(path).splitlines(), 1):
                if re.search(r'\b(secure_)?getenv\s*\(', line):
                    yield f'{path}:{number}: settings are read in src/base/settings.cpp only'


def check_docs(_):
    for name in ('gen_docs.py', 'verified.py'):
        script = ROOT / 'tools' / name
        if script.exists():
            r = subprocess.run([sys.executable, script, '--check'], cwd=ROOT, capture_output=True, text=True)
            if r.returncode:
                yield (r.stdout + r.stderr).strip().splitlines()[-1]


def check_format(files):
    if not shutil.which('clang-format'):
        print('format: skipped, clang-format is not installed')
        return
    paths = [str(p) for p in files if p.suffix in {'.cpp', '.h'}]
    r = subprocess.run(['clang-format', '--dry-run', '--Werror', *paths], cwd=ROOT, capture_output=True, text=True)
    for line in sorted({m[1] for m in re.finditer(r'^(\S+?):\d+:\d+: error', r.stderr, re.M)}):
        yield f'{line}: not formatted; run tools/dev fmt'


def report_files(files):
    """Lines by folder of source, with the number of files and the largest."""
    folders = {}
    for path in files:
        if path.suffix in SOURCE:
            folders.setdefault('/'.join(path.parts[:2]) if len(path.parts) > 2 else path.parts[0], []).append(
                (read(path).count('\n'), path.name))
    for folder, sizes in sorted(folders.items()):
        print(f'{folder:20} {sum(n for n, _ in sizes):7} lines {len(sizes):4} files, largest {max(sizes)[0]:4} {max(sizes)[1]}')


def main():
    files = tracked()
    if sys.argv[1:] == ['--files']:
        return report_files(files)
    checks = (check_layers, check_files, check_includes, check_settings, check_docs, check_format)
    findings = [f for check in checks for f in check(files)]
    for f in findings:
        print(f)
    print('lint: clean' if not findings else f'lint: {len(findings)} findings')
    return 1 if findings else 0


if __name__ == '__main__':
    sys.exit(main())
