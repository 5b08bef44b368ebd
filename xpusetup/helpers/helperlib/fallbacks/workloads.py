"""What collect_fallbacks.py runs: models that train, and single operators of the published tables and built-in lists.

A workload is a title and its parts; a part takes torch and the device. Parts end apart, so that one that the device
cannot do at all costs no other.
"""
# ruff: noqa: SLF001 - the published tables name operators that PyTorch calls by private names

import importlib
from collections.abc import Callable
from typing import Any, NamedTuple

from helperlib.checks import basics


class Workload(NamedTuple):
    title: str
    parts: dict[str, Callable[[Any, str], object]]


def train_convolutions(torch: Any, device: str) -> None:
    model = basics.make_model(torch.nn).to(device)
    batch, labels = torch.randn(4, 3, 32, 32).to(device), (torch.arange(4) % 10).to(device)
    list(basics.train(torch, model, batch, labels))


def train_transformer(torch: Any, device: str) -> None:
    """Take one step of AdamW, by its foreach kernels where the device has them, after dropout and clipped gradients."""
    block = torch.nn.TransformerEncoderLayer(32, 4, 64, activation="gelu", batch_first=True).to(device)
    head = torch.nn.Linear(32, 7).to(device)
    parameters = [*block.parameters(), *head.parameters()]
    optimizer = torch.optim.AdamW(parameters, lr=1e-3, foreach=True)
    scores = head(block(torch.randn(2, 6, 32).to(device))).flatten(0, 1)
    torch.nn.functional.cross_entropy(scores, (torch.arange(12) % 7).to(device)).backward()
    torch.nn.utils.clip_grad_norm_(parameters, 1.0)
    optimizer.step()


def train_resnet(torch: Any, device: str) -> None:
    """Take a step as the guide's examples do, on small noise: the operators are those of large pictures."""
    model = importlib.import_module("helperlib.checks.resnet").make_resnet50(10).to(device).train()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001, momentum=0.9)
    with torch.autocast(device.partition(":")[0], dtype=torch.bfloat16):
        scores = model(torch.randn(2, 3, 64, 64).to(device))
    torch.nn.functional.cross_entropy(scores.float(), torch.arange(2).to(device)).backward()
    optimizer.step()


def generate(torch: Any, device: str) -> None:
    """Choose tokens as text generation does."""
    scores = torch.randn(2, 50).to(device)
    kept, chosen = scores.topk(5)
    probabilities = kept.softmax(-1)
    token = chosen.gather(-1, torch.multinomial(probabilities, 1))
    ended = torch.isin(token, torch.tensor([3, 7]).to(device)) | (probabilities.cumsum(-1) > 1).any(-1, keepdim=True)
    bool(ended.all())


def segment(torch: Any, device: str) -> None:
    """Take a loss over pixels, whose operators were the ones that ended programs with PyTorch 2.4."""
    layer = torch.nn.Conv2d(3, 5, 1).to(device)
    labels = torch.zeros(1, 8, 8, dtype=torch.int64).to(device)
    torch.nn.functional.cross_entropy(layer(torch.randn(1, 3, 8, 8).to(device)), labels).backward()


def _grid(t: Any, d: str) -> object:
    grid = (t.rand(1, 4, 4, 2) * 2 - 1).to(d)
    return t.nn.functional.grid_sample(_x(t, d, 1, 2, 5, 5), grid, align_corners=False).sum().backward()


def _ctc(t: Any, d: str) -> object:
    targets = t.tensor([[1, 2], [2, 1]]).to(d)
    return t.nn.functional.ctc_loss(_x(t, d, 6, 2, 4).log_softmax(-1), targets, (6, 6), (2, 2)).backward()


def _x(t: Any, d: str, *shape: int) -> Any:
    return t.randn(*shape).to(d).requires_grad_()


def _y(t: Any, d: str) -> Any:
    return t.rand(4, 4).to(d)


def _scaled(t: Any, d: str, size: int, mode: str) -> object:
    return t.nn.functional.interpolate(_x(t, d, 1, 2, 4, 4), size=(size, size), mode=mode).sum().backward()


def _square(t: Any, d: str) -> Any:
    """Give a matrix that every decomposition accepts."""
    left = t.randn(4, 4)
    return (left @ left.T + 4 * t.eye(4)).to(d)


PUBLISHED: dict[str, Callable[[Any, str], object]] = {
    "adaptive_avg_pool2d": lambda t, d: t.nn.functional.adaptive_avg_pool2d(_x(t, d, 1, 2, 6, 6), 3).sum().backward(),
    "addcdiv": lambda t, d: t.addcdiv(_y(t, d), _y(t, d), _y(t, d) + 1),
    "addcmul": lambda t, d: t.addcmul(_y(t, d), _y(t, d), _y(t, d)),
    "all": lambda t, d: (_y(t, d) > 0).all(),
    "cdist": lambda t, d: t.cdist(_y(t, d), _y(t, d)),
    "ceil, floor": lambda t, d: (_y(t, d).ceil(), _y(t, d).floor()),
    "ctc_loss": _ctc,
    "equal": lambda t, d: t.equal(_y(t, d), _y(t, d)),
    "fft": lambda t, d: t.fft.ifft(t.fft.fft(_y(t, d))),
    "foreach_addcdiv": lambda t, d: t._foreach_addcdiv_([_y(t, d)], [_y(t, d)], [_y(t, d) + 1], [0.5]),
    "foreach_addcmul": lambda t, d: t._foreach_addcmul_([_y(t, d)], [_y(t, d)], [_y(t, d)], 0.5),
    "foreach_div": lambda t, d: t._foreach_div_([_y(t, d)], [2.0]),
    "foreach_lerp": lambda t, d: t._foreach_lerp_([_y(t, d)], [_y(t, d)], 0.5),
    "foreach_mul": lambda t, d: t._foreach_mul_([_y(t, d)], 2.0),
    "foreach_mul by a tensor": lambda t, d: t._foreach_mul_([_y(t, d)], t.tensor(2.0).to(d)),
    "foreach_norm": lambda t, d: t._foreach_norm([_y(t, d)]),
    "foreach_sqrt": lambda t, d: t._foreach_sqrt([_y(t, d)]),
    "grid_sample": _grid,
    "group_norm": lambda t, d: t.nn.functional.group_norm(_x(t, d, 1, 4, 3, 3), 2).sum().backward(),
    "index_copy": lambda t, d: _y(t, d).index_copy(0, t.tensor([0, 1]).to(d), _y(t, d)[:2]),
    "isin": lambda t, d: t.isin(_y(t, d), _y(t, d)),
    "lerp": lambda t, d: t.lerp(_y(t, d), _y(t, d), 0.5),
    "linspace": lambda t, d: t.linspace(0, 1, 5, device=d),
    "log_sigmoid": lambda t, d: t.nn.functional.logsigmoid(_x(t, d, 4)).sum().backward(),
    "logical_or": lambda t, d: t.logical_or(_y(t, d) > 0, _y(t, d) > 1),
    "masked_select": lambda t, d: _y(t, d).masked_select(_y(t, d) > 0),
    "max_pool2d": lambda t, d: t.nn.functional.max_pool2d(_x(t, d, 1, 2, 4, 4), 2).sum().backward(),
    "mse_loss": lambda t, d: t.nn.functional.mse_loss(_x(t, d, 4), t.ones(4).to(d)).backward(),
    "multinomial": lambda t, d: t.multinomial(_y(t, d), 2),
    "batch_norm": lambda t, d: t.nn.BatchNorm2d(2).to(d)(_x(t, d, 2, 2, 3, 3)).sum().backward(),
    "nll_loss2d": segment,
    "norm": lambda t, d: (t.ops.aten.norm(_y(t, d), 2, [0]), t.linalg.vector_norm(_y(t, d))),
    "prod": lambda t, d: _y(t, d).prod(0),
    "rfft": lambda t, d: t.fft.irfft(t.fft.rfft(_y(t, d))),
    "roll": lambda t, d: _y(t, d).roll(1, 0),
    "sgn": lambda t, d: _y(t, d).sgn(),
    "sigmoid, silu": lambda t, d: (_x(t, d, 4).sigmoid().sum().backward(), t.nn.functional.silu(_y(t, d))),
    "take": lambda t, d: _y(t, d).take(t.tensor([0, 5]).to(d)),
    "topk": lambda t, d: _y(t, d).topk(2),
    "upsample_bicubic2d": lambda t, d: _scaled(t, d, 6, "bicubic"),
    "upsample_bilinear2d": lambda t, d: _scaled(t, d, 6, "bilinear"),
    "upsample_nearest2d": lambda t, d: _scaled(t, d, 6, "nearest"),
    "xlogy": lambda t, d: t.xlogy(_y(t, d), _y(t, d) + 1),
}
ALGEBRA: dict[str, Callable[[Any, str], object]] = {
    "cholesky": lambda t, d: t.linalg.cholesky(_square(t, d)),
    "cholesky_inverse": lambda t, d: t.cholesky_inverse(_square(t, d)),
    "cholesky_solve": lambda t, d: t.cholesky_solve(_y(t, d), _square(t, d)),
    "eig": lambda t, d: t.linalg.eig(_square(t, d)),
    "eigh": lambda t, d: t.linalg.eigh(_square(t, d)),
    "eigvals": lambda t, d: t.linalg.eigvals(_square(t, d)),
    "geqrf": lambda t, d: t.geqrf(_square(t, d)),
    "householder_product": lambda t, d: t.linalg.householder_product(_y(t, d), _y(t, d)[0]),
    "ldl": lambda t, d: t.linalg.ldl_solve(*t.linalg.ldl_factor(_square(t, d)), _y(t, d)),
    "lstsq": lambda t, d: t.linalg.lstsq(_square(t, d), _y(t, d)),
    "lu": lambda t, d: t.linalg.lu(_square(t, d)),
    "lu_unpack": lambda t, d: t.lu_unpack(*t.linalg.lu_factor(_square(t, d))),
    "matrix_exp": lambda t, d: t.linalg.matrix_exp(_square(t, d)),
    "ormqr": lambda t, d: t.ormqr(_square(t, d), _y(t, d)[0], _y(t, d)),
    "qr": lambda t, d: t.linalg.qr(_square(t, d)),
    "solve": lambda t, d: t.linalg.solve(_square(t, d), _y(t, d)),
    "svd": lambda t, d: t.linalg.svd(_square(t, d)),
    "triangular_solve": lambda t, d: t.triangular_solve(_y(t, d), _square(t, d)),
}
WORKLOADS = (
    Workload("train ResNet-50 under autocast", {"train": train_resnet}),
    Workload("train a small convolutional model", {"train": train_convolutions}),
    Workload("train a transformer block with AdamW", {"train": train_transformer}),
    Workload("generation and segmentation", {"generate": generate, "segment": segment}),
    Workload("operators of the published tables", PUBLISHED),
    Workload("linear algebra", ALGEBRA),
)
