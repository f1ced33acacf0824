#!/usr/bin/env python3
"""PyTorch's side of tools/bench_gpu.py: holds models ready on a device and times them when asked.

Reads one JSON command a line, answers each with one JSON line:
  {"do": "about"}                                                     versions and the device
  {"do": "open", "model": M, "precision": P, "batch": N, "compile": false}     {"modes": [...], "layout": ...}
  {"do": "time", "batch": N, "seconds": S}                            median milliseconds of each mode
  {"do": "check", "model": M, "precision": P, "batch": N, "folder": F}         writes F/given.npy and F/wanted.npy, the
                                                                      float32 result; how far PyTorch's own P is from it
  {"do": "close"}                                                     forgets the opened models
Precisions: fp32 (no tf32), tf32, fp16, bf16. Modes: eager; graph (a captured CUDA graph); compile (torch.compile,
max-autotune, weights frozen). Pictures are tried as NCHW and NHWC and the faster is kept.
"""
import argparse
import gc
import json
import os
import statistics
import sys
import time

import torch

import make_bench_models

DTYPES = {'fp32': torch.float32, 'tf32': torch.float32, 'fp16': torch.float16, 'bf16': torch.bfloat16}
WARM_UP = 5
FEWEST = 10


class Peer:
    def __init__(self, folder, device):
        self.folder, self.device, self.open_models = folder, device, {}

    def about(self):
        cuda = self.device == 'cuda'
        return {
            'torch': torch.__version__,
            'cudnn': torch.backends.cudnn.version() if cuda else None,
            'device': torch.cuda.get_device_name() if cuda else 'cpu',
        }

    def prepare(self, model, precision, batch, layout):
        """The module and its input, in a precision and a memory format."""
        tf32 = precision == 'tf32'
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = tf32
        torch.backends.cudnn.benchmark = True
        module = make_bench_models.load(model, self.folder).to(self.device, DTYPES[precision])
        x = self.inputs(model, batch)
        x = x.to(DTYPES[precision]) if x.is_floating_point() else x
        if layout == 'NHWC':
            module, x = module.to(memory_format=torch.channels_last), x.contiguous(memory_format=torch.channels_last)
        return module, x

    def inputs(self, model, batch):
        _, inputs, _, _ = (make_bench_models.MODELS | make_bench_models.SMALL)[model]
        return inputs(batch, torch.Generator().manual_seed(1)).to(self.device)

    def open(self, model, precision, batch, compile=False):
        start = time.monotonic()
        layouts = ['NHWC', 'NCHW'] if self.inputs(model, 1).dim() == 4 else ['rows']
        candidates = []
        for layout in layouts:
            module, x = self.prepare(model, precision, batch, layout)
            modes = {'eager': lambda module=module, x=x: module(x)}
            if self.device == 'cuda':
                modes['graph'] = self.captured(modes['eager'])
            candidates.append((self.median(list(modes.values())[-1], 0.1), layout, modes))
        _, layout, modes = min(candidates, key=lambda candidate: candidate[0])
        del candidates
        if compile:
            modes['compile'] = self.compiled(*self.prepare(model, precision, batch, layout))
        self.open_models[batch] = modes
        return {'modes': list(modes), 'layout': layout, 'seconds': round(time.monotonic() - start, 1)}

    def captured(self, run):
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(3):
                run()
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            run()
        return graph.replay

    def compiled(self, module, x):
        import torch._inductor.config
        torch._inductor.config.freezing = True
        torch._dynamo.reset()
        compiled = torch.compile(module, mode='max-autotune')
        for _ in range(WARM_UP):
            compiled(x)
        return lambda: compiled(x)

    def median(self, run, seconds):
        """Of the milliseconds of single runs, by the device's clock."""
        for _ in range(WARM_UP):
            run()
        if self.device == 'cuda':
            torch.cuda.synchronize()
        samples, end = [], time.monotonic() + seconds
        while len(samples) < FEWEST or time.monotonic() < end:
            samples.append(self.timed(run))
        return statistics.median(samples)

    def timed(self, run):
        if self.device != 'cuda':
            start = time.perf_counter()
            run()
            return (time.perf_counter() - start) * 1e3
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        run()
        end.record()
        torch.cuda.synchronize()
        return begin.elapsed_time(end)

    def time(self, batch, seconds):
        return {mode: self.median(run, seconds) for mode, run in self.open_models[batch].items()}

    def check(self, model, precision, batch, folder):
        import numpy
        module, x = self.prepare(model, 'fp32', batch, 'NCHW')
        wanted = module(x).float()
        numpy.save(os.path.join(folder, 'given.npy'), x.cpu().numpy())
        numpy.save(os.path.join(folder, 'wanted.npy'), wanted.cpu().numpy())
        module, x = self.prepare(model, precision, batch, 'NCHW')
        difference = module(x).float() - wanted
        return {'relative': float(difference.double().norm() / wanted.double().norm())}

    def close(self):
        self.open_models.clear()
        gc.collect()
        if self.device == 'cuda':
            torch.cuda.empty_cache()
        return {}


def main():
    parser = argparse.ArgumentParser(description="PyTorch's side of bench_gpu.py")
    parser.add_argument('folder', help='what make_bench_models.py wrote')
    parser.add_argument('--device', default='cuda', choices=['cuda', 'cpu'])
    arguments = parser.parse_args()
    answers, sys.stdout = sys.stdout, sys.stderr  # whatever libraries print is no answer
    peer = Peer(arguments.folder, arguments.device)
    with torch.inference_mode():
        for line in sys.stdin:
            command = json.loads(line)
            try:
                answer = getattr(peer, command.pop('do'))(**command)
            except Exception as error:  # one mode or model that fails is no reason to lose the others
                answer = {'error': f'{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ""}'}
            print(json.dumps(answer), file=answers, flush=True)


if __name__ == '__main__':
    main()
