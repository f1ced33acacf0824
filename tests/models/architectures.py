# Small networks written for these tests: each has the parts of a well-known family, at a few thousand weights.
import torch
import torch.nn.functional as F
from torch import nn


class ConvBlock(nn.Sequential):
    """Conv, batch norm, SiLU, as in the YOLO families."""

    def __init__(self, inputs, outputs, kernel=1, stride=1):
        super().__init__(
            nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, bias=False), nn.BatchNorm2d(outputs), nn.SiLU()
        )


class Bottleneck(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.first, self.second = ConvBlock(channels, channels, 3), ConvBlock(channels, channels, 3)

    def forward(self, x):
        return x + self.second(self.first(x))


class CrossStage(nn.Module):
    """YOLOv5's C3: two branches, one through bottlenecks, concatenated."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.left, self.right = ConvBlock(inputs, outputs // 2), ConvBlock(inputs, outputs // 2)
        self.deep, self.out = Bottleneck(outputs // 2), ConvBlock(outputs, outputs)

    def forward(self, x):
        return self.out(torch.cat([self.deep(self.left(x)), self.right(x)], 1))


class SplitStage(nn.Module):
    """YOLOv8's C2f: one convolution, split in two, every intermediate concatenated."""

    def __init__(self, inputs, outputs, depth=2):
        super().__init__()
        self.start = ConvBlock(inputs, outputs)
        self.deep = nn.ModuleList(Bottleneck(outputs // 2) for _ in range(depth))
        self.out = ConvBlock(outputs // 2 * (depth + 2), outputs)

    def forward(self, x):
        parts = list(self.start(x).chunk(2, 1))
        for block in self.deep:
            parts.append(block(parts[-1]))
        return self.out(torch.cat(parts, 1))


class PyramidPool(nn.Module):
    """SPPF: three max pools in a row, all concatenated."""

    def __init__(self, channels):
        super().__init__()
        self.start, self.out = ConvBlock(channels, channels // 2), ConvBlock(channels * 2, channels)
        self.pool = nn.MaxPool2d(5, 1, 2)

    def forward(self, x):
        parts = [self.start(x)]
        for _ in range(3):
            parts.append(self.pool(parts[-1]))
        return self.out(torch.cat(parts, 1))


class Pyramid(nn.Module):
    """Backbone and top-down neck with strides 8 and 16; upsamples by Resize."""

    def __init__(self, stage, width):
        super().__init__()
        self.stem = nn.Sequential(ConvBlock(3, width, 6, 2), ConvBlock(width, width, 3, 2), stage(width, width))
        self.down8 = nn.Sequential(ConvBlock(width, 2 * width, 3, 2), stage(2 * width, 2 * width))
        self.down16 = nn.Sequential(ConvBlock(2 * width, 4 * width, 3, 2), PyramidPool(4 * width))
        self.lateral = ConvBlock(4 * width, 2 * width)
        self.merge = stage(4 * width, 2 * width)
        self.up = nn.Upsample(scale_factor=2, mode="nearest")

    def forward(self, images):
        fine = self.down8(self.stem(images)[:, :, 1:, 1:])  # the 6 x 6 stem adds a row and a column; drop them
        coarse = self.lateral(self.down16(fine))
        return self.merge(torch.cat([self.up(coarse), fine], 1)), coarse


class AnchorDetector(nn.Module):
    """YOLOv5-like: anchors, objectness, a 5-D permute, and rows of (cx, cy, w, h, objectness, classes)."""

    def __init__(self, classes=3, width=8):
        super().__init__()
        self.pyramid, self.classes = Pyramid(CrossStage, width), classes
        self.heads = nn.ModuleList(nn.Conv2d(2 * width, 3 * (5 + classes), 1) for _ in range(2))
        self.register_buffer(
            "anchors", torch.tensor([[[10.0, 13], [16, 30], [33, 23]], [[30, 61], [62, 45], [59, 99]]])
        )

    def forward(self, images):
        rows = []
        for level, (features, stride) in enumerate(zip(self.pyramid(images), (8, 16))):
            n, _, h, w = features.shape
            y = self.heads[level](features).view(n, 3, 5 + self.classes, h, w).permute(0, 1, 3, 4, 2).sigmoid()
            xy, wh, rest = y.split((2, 2, 1 + self.classes), 4)
            gy, gx = torch.meshgrid(torch.arange(h), torch.arange(w), indexing="ij")
            grid = torch.stack((gx, gy), 2).to(xy.dtype) - 0.5
            boxes = torch.cat(
                ((xy * 2 + grid) * stride, (wh * 2) ** 2 * self.anchors[level].view(1, 3, 1, 1, 2), rest), 4
            )
            rows.append(boxes.view(n, -1, 5 + self.classes))
        return torch.cat(rows, 1)


class FreeDetector(nn.Module):
    """YOLOv8-like: no anchors, each box side a distribution (softmax, its mean), output [N, 4 + classes, boxes]."""

    def __init__(self, classes=3, width=8, bins=8):
        super().__init__()
        self.pyramid, self.classes, self.bins = Pyramid(SplitStage, width), classes, bins
        self.sides = nn.ModuleList(
            nn.Sequential(ConvBlock(2 * width, 16, 3), nn.Conv2d(16, 4 * bins, 1)) for _ in range(2)
        )
        self.names = nn.ModuleList(
            nn.Sequential(ConvBlock(2 * width, 16, 3), nn.Conv2d(16, classes, 1)) for _ in range(2)
        )
        self.mean = nn.Conv2d(bins, 1, 1, bias=False).requires_grad_(False)
        self.mean.weight.data[:] = torch.arange(bins).view(1, bins, 1, 1)

    def forward(self, images):
        outputs, points, strides = [], [], []
        for level, (features, stride) in enumerate(zip(self.pyramid(images), (8, 16))):
            n, _, h, w = features.shape
            both = torch.cat((self.sides[level](features), self.names[level](features)), 1)
            outputs.append(both.view(n, 4 * self.bins + self.classes, -1))
            gy, gx = torch.meshgrid(torch.arange(h) + 0.5, torch.arange(w) + 0.5, indexing="ij")
            points.append(torch.stack((gx, gy), 0).view(2, -1))
            strides.append(torch.full((1, h * w), float(stride)))
        sides, scores = torch.cat(outputs, 2).split((4 * self.bins, self.classes), 1)
        n, _, count = sides.shape
        distances = self.mean(sides.view(n, 4, self.bins, count).transpose(2, 1).softmax(1)).view(n, 4, count)
        low, high = distances.chunk(2, 1)
        points, strides = torch.cat(points, 1).unsqueeze(0), torch.cat(strides, 1)
        low, high = points - low, points + high
        return torch.cat((torch.cat(((low + high) / 2, high - low), 1) * strides, scores.sigmoid()), 1)


class WithSuppression(nn.Module):
    """Takes the first image's boxes of a [N, 4 + classes, boxes] detector through torchvision's nms: rows of
    (x1, y1, x2, y2, score, class)."""

    def __init__(self, detector, score=0.3, overlap=0.5, most=20):
        super().__init__()
        import torchvision  # here, since its first import can't be traced

        self.detector, self.score, self.overlap, self.most = detector, score, overlap, most
        self.suppress = torchvision.ops.nms

    def forward(self, images):
        rows = self.detector(images)[0].transpose(0, 1)
        centre, size, scores = rows.split((2, 2, rows.shape[1] - 4), 1)
        best, label = scores.max(1)
        keep = best > self.score
        boxes = torch.cat((centre - size / 2, centre + size / 2), 1)[keep]
        best, label = best[keep], label[keep]
        chosen = self.suppress(boxes + label[:, None].to(boxes.dtype) * 4096, best, self.overlap)[: self.most]
        return torch.cat((boxes[chosen], best[chosen, None], label[chosen, None].to(boxes.dtype)), 1)


class ResidualNet(nn.Module):
    """ResNet-like, but convolutions keep their bias beside batch norm, and it has both pools, stride and projection."""

    def __init__(self, width=8, classes=10):
        super().__init__()

        def pair(inputs, outputs, kernel, stride=1):
            return nn.Sequential(nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2), nn.BatchNorm2d(outputs))

        self.stem, self.pool = pair(3, width, 7, 2), nn.MaxPool2d(3, 2, 1)
        self.blocks, self.shortcuts = nn.ModuleList(), nn.ModuleList()
        for inputs, outputs, stride in ((width, width, 1), (width, 2 * width, 2), (2 * width, 2 * width, 1)):
            self.blocks.append(
                nn.Sequential(
                    pair(inputs, width, 1), nn.ReLU(), pair(width, width, 3, stride), nn.ReLU(), pair(width, outputs, 1)
                )
            )
            same = inputs == outputs and stride == 1
            self.shortcuts.append(nn.Identity() if same else pair(inputs, outputs, 1, stride))
        self.classify = nn.Linear(2 * width, classes)

    def forward(self, images):
        x = self.pool(F.relu(self.stem(images)))
        for block, shortcut in zip(self.blocks, self.shortcuts):
            x = F.relu(block(x) + shortcut(x))
        return self.classify(torch.flatten(F.adaptive_avg_pool2d(x, 1), 1))


class TextReader(nn.Module):
    """An OCR recogniser: convolutions that flatten the height, two bidirectional LSTMs over the width, softmax."""

    def __init__(self, symbols=40, width=16, hidden=24):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, width, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(width, 2 * width, 3, padding=1),
            nn.BatchNorm2d(2 * width),
            nn.Hardswish(),
            nn.MaxPool2d((2, 1)),
            nn.Conv2d(2 * width, 2 * width, (8, 2)),
            nn.BatchNorm2d(2 * width),
            nn.ReLU(),
        )
        self.lstm = nn.LSTM(2 * width, hidden, num_layers=2, bidirectional=True)
        self.symbols = nn.Linear(2 * hidden, symbols)

    def forward(self, images):
        steps = self.features(images).squeeze(2).permute(2, 0, 1)
        return self.symbols(self.lstm(steps)[0]).softmax(2)


class Recurrent(nn.Module):
    """A classifier over a sequence, with the recurrent state as input and output."""

    def __init__(self, kind="lstm", inputs=16, hidden=32, layers=2, classes=5):
        super().__init__()
        self.kind = kind
        cell = {"lstm": nn.LSTM, "gru": nn.GRU}[kind]
        self.cell = cell(inputs, hidden, num_layers=layers, batch_first=True)
        self.classify = nn.Linear(hidden, classes)

    def forward(self, steps, h, *c):
        out, state = self.cell(steps, (h, c[0]) if c else h)
        scores = self.classify(out[:, -1])
        return (scores, *state) if c else (scores, state)


class VoiceDetector(nn.Module):
    """One sample rate's half of a silero-like detector: a learned spectrum, convolutions, one LSTM step, a sigmoid."""

    def __init__(self, window: int, hidden: int = 16):
        super().__init__()
        self.window, self.hidden = window, hidden
        self.spectrum = nn.Conv1d(1, 2 * hidden, window, window // 2, bias=False)
        self.convs = nn.Sequential(
            nn.Conv1d(hidden, hidden, 3, padding=1),
            nn.ReLU(),
            nn.Conv1d(hidden, hidden, 3, stride=2, padding=1),
            nn.ReLU(),
        )
        self.cell = nn.LSTM(hidden, hidden)
        self.out = nn.Conv1d(hidden, 1, 1)

    def forward(self, audio: torch.Tensor, state: torch.Tensor):
        padded = F.pad(audio.unsqueeze(1), [0, self.window // 2], mode="reflect")
        spectrum = self.spectrum(padded)
        real, imaginary = spectrum[:, : self.hidden], spectrum[:, self.hidden :]
        x = self.convs(torch.sqrt(real * real + imaginary * imaginary + 1e-6))
        steps, (h, c) = self.cell(x.permute(2, 0, 1), (state[:1], state[1:]))
        speech = torch.sigmoid(self.out(F.relu(steps[-1:].permute(1, 2, 0)))).mean(2)
        return speech, torch.cat([h, c])


class TwoRateVoiceDetector(nn.Module):
    """Chooses its half by the value of an input, which a scripted export turns into If."""

    def __init__(self):
        super().__init__()
        self.wide, self.narrow = VoiceDetector(64), VoiceDetector(32)

    def forward(self, audio: torch.Tensor, state: torch.Tensor, rate: torch.Tensor):
        if bool(rate == 16000):
            speech, following = self.wide(audio, state)
        else:
            speech, following = self.narrow(audio, state)
        return speech, following


class Segmenter(nn.Module):
    """U-Net-like: transposed convolution, bilinear Resize, instance and group norm, PReLU, any height and width."""

    def __init__(self, width=8, classes=4):
        super().__init__()
        self.first = nn.Sequential(
            nn.Conv2d(3, width, 3, padding=1, padding_mode="reflect"),
            nn.InstanceNorm2d(width, affine=True),
            nn.LeakyReLU(0.1),
        )
        self.down = nn.Sequential(nn.Conv2d(width, 2 * width, 4, 2, 1), nn.GroupNorm(4, 2 * width), nn.PReLU(2 * width))
        self.deep = nn.Sequential(nn.Conv2d(2 * width, 2 * width, 3, 2, 2, dilation=2), nn.ELU())
        self.up = nn.ConvTranspose2d(2 * width, width, 4, 2, 1)
        self.out = nn.Conv2d(2 * width + width, classes, 1)

    def forward(self, images):
        fine = self.first(images)
        middle = self.down(fine)
        deep = F.interpolate(self.deep(middle), size=middle.shape[2:], mode="bilinear", align_corners=False)
        return self.out(
            torch.cat([self.up(deep + middle), F.interpolate(middle, scale_factor=2.0, mode="bilinear")], 1)
        )


class Picked(nn.Module):
    """Calls a transformers model with named tensors and returns the named outputs as a tuple."""

    def __init__(self, model, inputs, outputs):
        super().__init__()
        self.model, self.inputs, self.outputs = model, inputs, outputs

    def forward(self, *tensors):
        result = self.model(**dict(zip(self.inputs, tensors)), return_dict=True)
        return tuple(result[name] for name in self.outputs)


class Generator(nn.Module):
    """A decoder with its cache spelt out: (input_ids, attention_mask, past...) -> (logits, present...), where past and
    present are key and value of each layer in turn."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, input_ids, attention_mask, *past):
        from transformers import DynamicCache

        cache = DynamicCache()
        for layer in range(len(past) // 2):
            cache.update(past[2 * layer], past[2 * layer + 1], layer)
        result = self.model(input_ids=input_ids, attention_mask=attention_mask, past_key_values=cache, use_cache=True)
        present = []
        for layer in result.past_key_values.layers:
            present += [layer.keys, layer.values]
        return (result.logits, *present)
