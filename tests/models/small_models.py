# The models that are committed under small/: real exporters' graphs of every family, at a few thousand weights.
import numpy as np
from catalogue import BERT_INPUTS, add, cache_names, generation, images, sentences
from makers import classifier, detector, generator, own, quantized, transformer


def add_small():
    def rand(*shape):
        def example():
            import torch

            return [torch.rand(shape)]

        return example

    def small(name, source, make, calls, needs=("torch",), **more):
        add(f"small/{name}", source, make, calls, needs, small=True, **more)

    vision, torches = "torchvision, BSD-3-Clause, random weights", ["torch", "torchvision"]
    hub, hubs = "transformers, Apache-2.0, random weights", ["torch", "transformers"]
    ours = "architectures.py, MIT, random weights"
    two = images("input", (1, 3, 32, 32), (3, 3, 32, 32))

    # image classifiers
    def mobilenet_v2():
        import torch
        from torchvision.models.mobilenetv2 import Conv2dNormActivation, MobileNetV2

        network = MobileNetV2(num_classes=10, width_mult=0.1, dropout=0.0)
        inputs = network.features[-1][0].in_channels  # the last layers are 1280 wide whatever the width is
        network.features[-1] = Conv2dNormActivation(inputs, 64, kernel_size=1, activation_layer=torch.nn.ReLU6)
        network.classifier = torch.nn.Linear(64, 10)
        return network

    def mobilenet_v3():
        from torchvision.models.mobilenetv3 import InvertedResidualConfig, MobileNetV3

        rows = [(8, 3, 16, 8, True, "RE", 2, 1), (8, 3, 24, 16, False, "RE", 2, 1), (16, 5, 32, 16, True, "HS", 1, 1)]
        return MobileNetV3([InvertedResidualConfig(*row, 1.0) for row in rows], 64, num_classes=10)

    def efficientnet():
        from torchvision.models.efficientnet import EfficientNet, MBConvConfig

        rows = [(1, 3, 1, 8, 8, 1), (4, 3, 2, 8, 16, 2), (4, 5, 2, 16, 24, 1)]
        return EfficientNet([MBConvConfig(*row) for row in rows], dropout=0.0, num_classes=10)

    def densenet():
        from torchvision.models import DenseNet

        return DenseNet(growth_rate=8, block_config=(2, 3), num_init_features=16, num_classes=10)

    def shufflenet():
        from torchvision.models import ShuffleNetV2

        return ShuffleNetV2([2, 2, 2], [8, 16, 32, 48, 64], num_classes=10)

    def vit():
        from timm.models.vision_transformer import VisionTransformer

        return VisionTransformer(img_size=32, patch_size=8, embed_dim=48, depth=2, num_heads=3, num_classes=10)

    def convnext():
        from torchvision.models.convnext import CNBlockConfig, ConvNeXt

        return ConvNeXt([CNBlockConfig(16, 32, 2), CNBlockConfig(32, None, 1)], num_classes=10)

    small(
        "mobilenet_v2",
        vision,
        classifier(mobilenet_v2, 64, keep_batch_norm=True, axes=(0, 2, 3)),
        images("input", (1, 3, 64, 64), (2, 3, 32, 48)),
        torches,
    )
    small(
        "mobilenet_v3_dynamo",
        vision + ", dynamo exporter",
        classifier(mobilenet_v3, 64, dynamo=True),
        images("input", (1, 3, 64, 64), (3, 3, 64, 64)),
        [*torches, "onnxscript"],
    )
    small("efficientnet", vision, classifier(efficientnet, 32), two, torches)
    small("densenet", vision, classifier(densenet, 32), two, torches)
    small("shufflenet", vision, classifier(shufflenet, 64), images("input", (1, 3, 64, 64), (3, 3, 64, 64)), torches)
    small("vit", "timm, Apache-2.0, random weights", classifier(vit, 32), two, ["torch", "timm"])
    small(
        "convnext_dynamo",
        vision + ", dynamo exporter",
        classifier(convnext, 32, dynamo=True),
        two,
        [*torches, "onnxscript"],
    )
    batch = {"input": {0: "N"}, "logits": {0: "N"}}
    small(
        "resnet", ours, own("ResidualNet", rand(2, 3, 32, 32), ["input"], ["logits"], batch, keep_batch_norm=True), two
    )
    small("resnet_opset11", ours, own("ResidualNet", rand(2, 3, 32, 32), ["input"], ["logits"], batch, opset=11), two)
    small(
        "resnet_fp16",
        ours,
        own("ResidualNet", rand(2, 3, 32, 32), ["input"], ["logits"], batch, half=True),
        lambda rng: [{"input": rng.random(s, np.float32).astype(np.float16)} for s in ((1, 3, 32, 32), (3, 3, 32, 32))],
        tolerance=0.02,
    )
    small(
        "resnet_qdq",
        ours + ", quantised by onnxruntime (MIT)",
        quantized("resnet", static=True),
        two,
        ["torch", "onnxruntime", "sympy"],
        tolerance=0.05,
    )
    small(
        "segmenter",
        ours,
        own(
            "Segmenter",
            rand(2, 3, 32, 32),
            ["input"],
            ["classes"],
            {"input": {0: "N", 2: "H", 3: "W"}, "classes": {0: "N", 2: "H", 3: "W"}},
        ),
        images("input", (1, 3, 32, 32), (2, 3, 24, 40)),
    )

    # detectors
    small(
        "yolov5_nms", ours, detector("AnchorDetector", appended=True), images("images", (1, 3, 64, 64), (2, 3, 64, 96))
    )
    small(
        "yolov8_nms",
        ours,
        detector("FreeDetector", appended=False),
        images("images", (1, 3, 64, 64), (1, 3, 96, 64)),
        torches,
    )

    # text
    bert = dict(
        vocab_size=200,
        hidden_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=96,
        max_position_embeddings=64,
    )
    states = ["last_hidden_state", "pooler_output"]
    small(
        "bert",
        hub,
        transformer("Bert", states, bert, sequence="S", shape=(2, 12)),
        sentences(200, (1, 8), (3, 21)),
        hubs,
    )
    small(
        "bert_dynamo",
        hub + ", dynamo exporter",
        transformer("Bert", states, bert, sequence="S", shape=(2, 12), dynamo=True),
        sentences(200, (2, 8), (3, 21)),
        [*hubs, "onnxscript"],
    )
    small(
        "bert_int8",
        hub + ", quantised by onnxruntime (MIT)",
        quantized("bert", static=False),
        sentences(200, (1, 8), (3, 21)),
        [*hubs, "onnxruntime", "sympy"],
        tolerance=0.05,
    )
    gpt2 = dict(vocab_size=200, n_embd=32, n_layer=2, n_head=4, n_positions=64)
    small(
        "gpt2",
        hub,
        generator("GPT2", gpt2, 2, 4, 8, past=False),
        sentences(200, (1, 8), (2, 13), inputs=BERT_INPUTS[:2]),
        hubs,
    )
    small(
        "gpt2_past",
        hub,
        generator("GPT2", gpt2, 2, 4, 8),
        generation(200, 2, 4, 8, batch=2, steps=3),
        hubs,
        carry=cache_names(2),
    )
    llama = dict(
        vocab_size=200,
        hidden_size=48,
        intermediate_size=96,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=64,
        head_dim=12,
    )
    small(
        "llama_past",
        hub,
        generator("Llama", llama, 2, 2, 12),
        generation(200, 2, 2, 12, batch=2, steps=3),
        hubs,
        carry=cache_names(2),
    )

    # sequences
    small(
        "text_reader",
        ours,
        own(
            "TextReader",
            rand(2, 1, 32, 40),
            ["image"],
            ["symbols"],
            {"image": {0: "N", 3: "W"}, "symbols": {0: "T", 1: "N"}},
        ),
        images("image", (1, 1, 32, 40), (2, 1, 32, 72)),
    )

    def recurrent(kind):
        def example():
            import torch

            return [torch.randn(3, 7, 16)] + [torch.randn(2, 3, 32) for _ in range(2 if kind == "lstm" else 1)]

        def build():
            from architectures import Recurrent

            return Recurrent(kind)

        states = ["h", "c"] if kind == "lstm" else ["h"]
        names = (
            {"steps": {0: "N", 1: "S"}, "scores": {0: "N"}}
            | {s: {1: "N"} for s in states}
            | {s + "n": {1: "N"} for s in states}
        )

        def calls(rng):
            return [
                {"steps": rng.standard_normal((n, s, 16)).astype(np.float32)}
                | {state: rng.standard_normal((2, n, 32)).astype(np.float32) for state in states}
                for n, s in ((1, 5), (3, 11))
            ]

        return own(build, example, ["steps", *states], ["scores", *[s + "n" for s in states]], names), calls

    for kind in ("lstm", "gru"):
        small(kind, ours, *recurrent(kind))

    def listening():
        import torch

        return [torch.randn(2, 256), torch.zeros(2, 2, 16), torch.tensor(16000)]

    def rates(rng):
        return [
            {
                "audio": rng.standard_normal((n, size)).astype(np.float32),
                "state": rng.standard_normal((2, n, 16)).astype(np.float32),
                "rate": np.array(rate, np.int64),
            }
            for n, size, rate in ((1, 256, 16000), (2, 128, 8000))
        ]

    small(
        "voice_if",
        ours,
        own(
            "TwoRateVoiceDetector",
            listening,
            ["audio", "state", "rate"],
            ["speech", "stateN"],
            {"audio": {0: "N", 1: "samples"}, "state": {1: "N"}, "speech": {0: "N"}, "stateN": {1: "N"}},
            script=True,
        ),
        rates,
    )


add_small()
