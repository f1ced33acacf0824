#!/usr/bin/env python3
"""Writes the models of the speed table as ONNX with a dynamic batch: well-known networks with seeded random weights.

    make_bench_models.py [--small] [--jobs N] [--only REGEX] FOLDER    # needs torch, torchvision, transformers, onnx

Each model becomes FOLDER/NAME.onnx and, for PyTorch's side of a comparison, FOLDER/NAME.pt (the same weights).
Batch norms stay in the graph. `--small` writes NAME_small: the same graphs with few channels, for emulators.
"""
import argparse
import concurrent.futures
import multiprocessing
import os
import pathlib
import re
import sys
import time
import warnings

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / 'tests' / 'models'))
SEQUENCE = 128


def pictures(size):
    """What makes a batch of a classifier's inputs."""
    def make(batch, generator=None):
        import torch
        return torch.rand(batch, 3, size, size, generator=generator)
    return make


def tokens(vocabulary, length):
    def make(batch, generator=None):
        import torch
        return torch.randint(1, vocabulary, (batch, length), generator=generator)
    return make


def torchvision_model(name):
    def build(**_):
        import torchvision
        return torchvision.models.get_model(name, weights=None)
    return build


def bert(attention='sdpa', **config):
    """A BERT whose only input is its token ids and whose only output is the last layer."""
    import torch
    import transformers

    class LastHiddenState(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.bert = transformers.BertModel(transformers.BertConfig(attn_implementation=attention, **config),
                                               add_pooling_layer=False)

        def forward(self, input_ids):
            return self.bert(input_ids=input_ids).last_hidden_state

    return LastHiddenState()


def small_resnet(**_):
    import torch
    from torchvision.models.resnet import Bottleneck, ResNet

    class Narrow(ResNet):
        def _make_layer(self, block, planes, *rest, **named):
            return super()._make_layer(block, planes // 8, *rest, **named)

    network = Narrow(Bottleneck, [1, 2, 1, 1])
    network.fc = torch.nn.Linear(network.fc.in_features // 8, 10)
    return network


def small_mobilenet(**_):
    from torchvision.models import MobileNetV2
    return MobileNetV2(num_classes=10, width_mult=0.25)


def small_efficientnet(**_):
    from torchvision.models.efficientnet import EfficientNet, MBConvConfig
    rows = [(1, 3, 1, 16, 8, 1), (4, 3, 2, 8, 16, 2), (4, 5, 2, 16, 24, 1)]
    return EfficientNet([MBConvConfig(*row) for row in rows], dropout=0.0, num_classes=10)


def small_vit(**_):
    from torchvision.models import VisionTransformer
    return VisionTransformer(image_size=32, patch_size=8, num_layers=2, num_heads=4, hidden_dim=64, mlp_dim=128,
                             num_classes=10)


def small_convnext(**_):
    from torchvision.models.convnext import CNBlockConfig, ConvNeXt
    return ConvNeXt([CNBlockConfig(16, 32, 2), CNBlockConfig(32, None, 1)], num_classes=10)


def small_bert(attention='sdpa'):
    return bert(attention, vocab_size=200, hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
                intermediate_size=128, max_position_embeddings=64)


# name: (build, make inputs, name of the input, name of the output)
MODELS = {name: (torchvision_model(name), pictures(224), 'input', 'logits')
          for name in ('resnet50', 'mobilenet_v2', 'efficientnet_b0', 'vit_b_16', 'convnext_tiny')}
MODELS['bert_base'] = bert, tokens(30000, SEQUENCE), 'input_ids', 'last_hidden_state'
SMALL = {
    'resnet50_small': (small_resnet, pictures(64), 'input', 'logits'),
    'mobilenet_v2_small': (small_mobilenet, pictures(64), 'input', 'logits'),
    'efficientnet_b0_small': (small_efficientnet, pictures(32), 'input', 'logits'),
    'vit_b_16_small': (small_vit, pictures(32), 'input', 'logits'),
    'convnext_tiny_small': (small_convnext, pictures(32), 'input', 'logits'),
    'bert_base_small': (small_bert, tokens(200, 16), 'input_ids', 'last_hidden_state'),
}


def load(name, folder):
    """The PyTorch module of FOLDER/NAME.onnx, with its weights."""
    import torch
    module = (MODELS | SMALL)[name][0]()
    module.load_state_dict(torch.load(pathlib.Path(folder) / f'{name}.pt', weights_only=True))
    return module.eval()


def make(name, folder):
    """Exports one model. How long it took, or what went wrong: an exporter's exceptions do not cross processes."""
    try:
        return f'{export_model(name, folder):5.1f} s'
    except Exception as error:
        return f'FAILED: {type(error).__name__}: {error}'


def export_model(name, folder):
    import torch
    from exporting import export, settle

    start = time.monotonic()
    warnings.simplefilter('ignore')
    torch.backends.mha.set_fastpath_enabled(False)  # its one operator for a whole attention has no ONNX form
    torch.manual_seed(0)
    build, inputs, given, wanted = (MODELS | SMALL)[name]
    module = settle(build(attention='eager'), inputs(8))
    torch.save(module.state_dict(), folder / f'{name}.pt')
    normed = any(isinstance(m, torch.nn.BatchNorm2d) for m in module.modules())
    dynamic = {given: {0: 'N'}, wanted: {0: 'N'}}
    export(module, (inputs(2),), folder / f'{name}.onnx', [given], [wanted], dynamic, keep_batch_norm=normed)
    return time.monotonic() - start


def main():
    parser = argparse.ArgumentParser(description='export the models of the speed table')
    parser.add_argument('folder', type=pathlib.Path)
    parser.add_argument('--small', action='store_true', help='the variants with few channels')
    parser.add_argument('--only', default='', metavar='REGEX', help='models whose name matches')
    parser.add_argument('--jobs', type=int, default=min(6, len(os.sched_getaffinity(0))), help='processes at once')
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    names = [name for name in (SMALL if arguments.small else MODELS) if re.search(arguments.only, name)]
    context = multiprocessing.get_context('spawn')
    with concurrent.futures.ProcessPoolExecutor(max(1, arguments.jobs), mp_context=context) as pool:
        results = list(zip(names, pool.map(make, names, [arguments.folder] * len(names))))
    for name, result in results:
        path = arguments.folder / f'{name}.onnx'
        print(f'{name:24} {path.stat().st_size if path.exists() else 0:12,} bytes  {result}')
    return 1 if any('FAILED' in result for _, result in results) else 0


if __name__ == '__main__':
    sys.exit(main())
