"""ResNet-50 in plain torch.nn: no torchvision, no downloads. Its weights are random and its pictures are noise.

He and others, "Deep Residual Learning for Image Recognition" (2015); the stride is in the 3x3 convolution, as in the
model that PyTorch publishes, so the shapes of all its operators are those of the guide's examples.
"""

from __future__ import annotations

from typing import Any

from torch import nn

BLOCKS = (3, 4, 6, 3)
WIDTHS = (64, 128, 256, 512)
EXPANSION = 4
BRANCH_WEIGHT = 0.2
"""What a block adds to its input. At 1, fifty random layers amplify rounding errors a hundred times."""


class ResidualBlock(nn.Module):  # type: ignore[misc]
    """Three convolutions beside a way around them."""

    def __init__(self, inputs: int, width: int, stride: int) -> None:
        super().__init__()
        outputs = width * EXPANSION
        self.branch = nn.Sequential(
            *convolve(inputs, width, 1),
            nn.ReLU(inplace=True),
            *convolve(width, width, 3, stride),
            nn.ReLU(inplace=True),
            *convolve(width, outputs, 1),
        )
        nn.init.constant_(self.branch[-1].weight, BRANCH_WEIGHT)
        same = stride == 1 and inputs == outputs
        self.around = nn.Identity() if same else nn.Sequential(*convolve(inputs, outputs, 1, stride))
        self.last = nn.ReLU(inplace=True)

    def forward(self, x: Any) -> Any:
        return self.last(self.branch(x) + self.around(x))


def convolve(inputs: int, outputs: int, kernel: int, stride: int = 1) -> tuple[Any, Any]:
    layer = nn.Conv2d(inputs, outputs, kernel, stride, padding=kernel // 2, bias=False)
    nn.init.kaiming_normal_(layer.weight, mode="fan_out", nonlinearity="relu")
    return layer, nn.BatchNorm2d(outputs)


def make_resnet50(classes: int = 1000) -> Any:
    """Make the model for pictures of any size from 32x32 on, in training mode, with random weights."""
    layers = [*convolve(3, WIDTHS[0], 7, 2), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, padding=1)]
    inputs = WIDTHS[0]
    for stage, (width, count) in enumerate(zip(WIDTHS, BLOCKS, strict=True)):
        for index in range(count):
            layers.append(ResidualBlock(inputs, width, stride=2 if stage and not index else 1))
            inputs = width * EXPANSION
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, classes))


def settle(model: Any, batch: Any) -> Any:
    """Give the model in eval mode with the running statistics of a batch, so that its numbers keep their size."""
    norms = [one for one in model.modules() if isinstance(one, nn.BatchNorm2d)]
    for one in norms:
        one.momentum = 1.0
    model.train()(batch)
    for one in norms:
        one.momentum = 0.1
    return model.eval()
