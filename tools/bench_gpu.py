#!/usr/bin/env python3
"""Times hipforge against PyTorch on one GPU, in turn, in one run; prints a Markdown table, and JSON with --json FILE.

    make_bench_models.py FOLDER && bench_gpu.py --hipforge build/release/hipforge FOLDER [--precision fp16,fp32]
        [--batch 64,8,1] [--rounds 3] [--compile resnet50:64,vit_b_16] [--only REGEX] [--budget SECONDS] [--json FILE]

hipforge's number is `device_ms` of `hipforge bench --json`: the median of a run on the device, inputs and outputs
there. PyTorch's (tools/peer_gpu.py, same weights) is the median of a CUDA graph's replay, of an eager run, and of
torch.compile's max-autotune for the models (or model:batch) that --compile names; the latter takes minutes each.
A ratio is PyTorch's time over hipforge's, above 1 where hipforge is faster: the median over the rounds, and [lowest,
highest]. Results are compared with PyTorch's float32 ones: relative L2 of hipforge's and of PyTorch's own precision.
"""
import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
MODES = ['graph', 'eager', 'compile']


class Failure(Exception):
    pass


class Peer:
    """PyTorch in a process of its own."""

    def __init__(self, python, folder, device):
        self.process = subprocess.Popen([python, HERE / 'peer_gpu.py', folder, '--device', device], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def ask(self, **command):
        self.process.stdin.write(json.dumps(command) + '\n')
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise Failure(f'peer_gpu.py ended with status {self.process.wait()} at {command}')
        answer = json.loads(line)
        if 'error' in answer:
            raise Failure(f'PyTorch: {answer["error"]}')
        return answer

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()


class Ours:
    """The hipforge program."""

    def __init__(self, program, folder, device, more):
        self.program, self.folder, self.device, self.more = program, folder, device, more

    def run(self, command, model, precision, *options):
        line = [self.program, command, self.folder / f'{model}.onnx', '--device', self.device, '--precision', precision,
                *options, *self.more]
        r = subprocess.run([str(word) for word in line], capture_output=True, text=True, errors='replace')
        if r.returncode:
            raise Failure(f'hipforge {command}: {(r.stderr.strip().splitlines() or ["no message"])[-1]}')
        return r.stdout

    def time(self, model, precision, batches, seconds):
        """{batch: row of hipforge bench}."""
        out = self.run('bench', model, precision, '--batch', ','.join(map(str, batches)), '--time', seconds, '--json')
        return {row['batch']: row for row in json.loads(out)['rows']}

    def relative(self, model, precision, given, folder):
        """The relative L2 distance from folder/wanted.npy, for the input folder/given.npy."""
        import numpy
        self.run('run', model, precision, '--input', f'{given}={folder}/given.npy', '--output-dir', folder / 'got')
        got = numpy.load(next((folder / 'got').glob('*.npy'))).astype('float64')
        wanted = numpy.load(folder / 'wanted.npy').astype('float64')
        return float(numpy.linalg.norm(got - wanted) / numpy.linalg.norm(wanted)) if got.shape == wanted.shape else None


def milliseconds(row):
    """Of a row of hipforge bench: the device's time where it is told."""
    return row['device_ms'] if row.get('device_ms') else row['latency_ms']['median']


def measure(ours, peer, model, precision, arguments):
    """Rows of the table, one a batch, for a model in a precision. 'tf32' is PyTorch's word: hipforge has fp32."""
    import make_bench_models
    batches = [int(n) for n in arguments.batch.split(',')]
    compiled = set(arguments.compile.split(','))
    opened = {}
    for batch in batches:
        wanted = bool({'all', model, f'{model}:{batch}'} & compiled)
        opened[batch] = peer.ask(do='open', model=model, precision=precision, batch=batch, compile=wanted)
    rows = {batch: {'model': model, 'precision': precision, 'batch': batch, 'layout': opened[batch]['layout'],
                    'rounds': []} for batch in batches}
    for _ in range(arguments.rounds):
        bench = ours.time(model, precision, batches, arguments.seconds)
        for batch in batches:
            theirs = peer.ask(do='time', batch=batch, seconds=arguments.seconds)
            rows[batch]['rounds'].append({'hipforge': milliseconds(bench[batch]), **theirs})
            rows[batch]['bench'] = bench[batch]  # of the last round, for reading
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        theirs = peer.ask(do='check', model=model, precision=precision, batch=batches[len(batches) // 2],
                          folder=str(folder))
        given = (make_bench_models.MODELS | make_bench_models.SMALL)[model][2]
        error = ours.relative(model, precision, given, folder)
    for row in rows.values():
        row |= {'relative': error, 'peer_relative': theirs['relative']}
    return list(rows.values())


def summarize(row):
    """Adds the medians of the rounds and, for each of PyTorch's modes, the ratio with its spread."""
    times = row['rounds']
    row['ms'] = {who: statistics.median(t[who] for t in times) for who in times[0]}
    row['ratio'] = {}
    for mode in MODES:
        if mode in times[0]:
            ratios = [t[mode] / t['hipforge'] for t in times]
            row['ratio'][mode] = {'median': statistics.median(ratios), 'low': min(ratios), 'high': max(ratios)}


def table(rows):
    modes = [mode for mode in MODES if any(mode in row.get('ratio', {}) for row in rows)]
    yield '| model | precision | batch | hipforge ms | ' + ''.join(f'PyTorch {m} ms | ratio | ' for m in modes) + \
        'relative L2 (PyTorch) |'
    yield '|---|---|--:|--:|' + '--:|--:|' * len(modes) + '--:|'
    for row in rows:
        if 'error' in row:
            yield f'| {row["model"]} | {row["precision"]} | {row.get("batch", "")} | failed: {row["error"]} |'
            continue
        cells = [row['model'], row['precision'], str(row['batch']), f'{row["ms"]["hipforge"]:.3f}']
        for mode in modes:
            ratio = row['ratio'].get(mode)
            cells += [f'{row["ms"][mode]:.3f}',
                      f'{ratio["median"]:.2f} [{ratio["low"]:.2f}, {ratio["high"]:.2f}]'] if ratio else ['', '']
        error = 'wrong shape' if row['relative'] is None else f'{row["relative"]:.1e}'
        yield '| ' + ' | '.join([*cells, f'{error} ({row["peer_relative"]:.1e})']) + ' |'


def main():
    parser = argparse.ArgumentParser(description='hipforge against PyTorch on a GPU')
    parser.add_argument('folder', type=pathlib.Path, help='what make_bench_models.py wrote')
    parser.add_argument('--hipforge', required=True, type=pathlib.Path)
    parser.add_argument('--device', default='cuda', help="of hipforge; PyTorch's is cuda, or cpu beside cpu and emu")
    parser.add_argument('--precision', default='fp16', help='of fp16, bf16, fp32')
    parser.add_argument('--batch', default='64,8,1')
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument('--seconds', type=float, default=0.5, help='of each measurement')
    parser.add_argument('--compile', default='', metavar='MODEL[:BATCH],...', help="with torch.compile too; 'all'")
    parser.add_argument('--only', default='', metavar='REGEX', help='models whose name matches')
    parser.add_argument('--budget', type=float, default=1e9, metavar='S', help='begin no more models after this time')
    parser.add_argument('--python', default=sys.executable, help="PyTorch's")
    parser.add_argument('--json', type=pathlib.Path, metavar='FILE')
    parser.add_argument('--options', default='', help='more options for hipforge, separated by spaces')
    arguments = parser.parse_args()
    start = time.monotonic()
    models = sorted(path.stem for path in arguments.folder.glob('*.onnx') if re.search(arguments.only, path.stem))
    ours = Ours(arguments.hipforge.resolve(), arguments.folder, arguments.device, arguments.options.split())
    report = {'started': time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime()), 'rows': []}
    kind = 'cuda' if arguments.device.startswith('cuda') else 'cpu'
    with Peer(arguments.python, arguments.folder, kind) as peer:
        report['peer'] = peer.ask(do='about')
        print(f'{report["peer"]["device"]}, PyTorch {report["peer"]["torch"]}', file=sys.stderr)
        for precision in arguments.precision.split(','):
            for model in models:
                if time.monotonic() - start > arguments.budget:
                    report['rows'].append({'model': model, 'precision': precision, 'error': 'no time left'})
                    continue
                try:
                    rows = measure(ours, peer, model, precision, arguments)
                    for row in rows:
                        summarize(row)
                except Failure as failure:
                    rows = [{'model': model, 'precision': precision, 'error': str(failure)}]
                peer.ask(do='close')
                report['rows'] += rows
                print('\n'.join(list(table(rows))[2:]), f' ({time.monotonic() - start:.0f} s)', file=sys.stderr, flush=True)
                if arguments.json:
                    arguments.json.write_text(json.dumps(report, indent=1) + '\n')
    print('\n'.join(table(report['rows'])))
    return 1 if any('error' in row for row in report['rows']) else 0


if __name__ == '__main__':
    sys.exit(main())
