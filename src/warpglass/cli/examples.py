"""Command lines that the help of each command shows; all of them are parsed by a test."""

from __future__ import annotations

_LAUNCH = "--grid 8 --block 128 --arg 'f4[999]' --arg i4=999"

EXAMPLES = {
    "run": (
        f"warpglass run k.cu:scale {_LAUNCH}",
        "warpglass run 'k.cu:sum<256>' --grid 8 --block 256 --arg 'f4[2048]' --json",
        "warpglass run script.py arguments",
        "warpglass run --model a100 --timeout 600 -m pytest tests",
    ),
    "bench": (
        "warpglass bench reduction",
        "warpglass bench transpose --size 2048 --rung naive --rung padded_tile",
        "warpglass bench --all --small --json all.json",
        "warpglass bench reduction --add mine.cu:my_sum",
        "warpglass bench reduction --notes",
    ),
    "list": ("warpglass list",),
    "check": (
        f"warpglass check k.cu:scale {_LAUNCH}",
        "warpglass check --sarif findings.sarif script.py arguments",
        "warpglass check -m pytest tests",
        "warpglass check --json script.py -- --json   # the second is the script's",
    ),
    "sweep": (
        "warpglass sweep sizes.toml",
        "warpglass sweep sizes.toml --best seconds --by model,n --csv all.csv",
        "warpglass sweep sizes.toml --heat-map seconds,n,block --plot times.png",
        "warpglass sweep sizes.toml --dask tcp://10.0.0.1:8786",
    ),
    "tune": (
        "warpglass tune tile.toml seconds --by n --trials 30",
        "warpglass tune tile.toml gpu__time_duration.sum --by model",
    ),
    "judge": (
        "warpglass judge add.toml submissions -o results",
        "warpglass judge add.toml submissions --results kept.sqlite --json",
    ),
    "selftest": ("warpglass selftest",),
    "devices": ("warpglass devices", "warpglass devices h100 --json"),
    "occupancy": (
        "warpglass occupancy --threads 256 --registers 40 --shared 16K",
        "warpglass occupancy k.cu:scale --block 16x16 --curve",
    ),
    "roofline": (
        "warpglass roofline profile.json --plot roofline.png",
        "warpglass roofline --flops 2e9 --bytes 1.2e9 --precision fp32",
    ),
    "report": ("warpglass report bench.json profile.json check.json -o report.html",),
    "show": ("warpglass show k.cu:scale", "warpglass show reduction:interleaved:python --model a100"),
    "launch": ("warpglass launch 100 --block 32", "warpglass launch 76x62 --block 16x16"),
    "explain": (
        f"warpglass explain k.cu:scale {_LAUNCH}",
        "warpglass explain reduction:interleaved",
        "warpglass explain profile.json --most 1",
    ),
    "profile": (
        f"warpglass profile k.cu:scale {_LAUNCH}",
        "warpglass profile --lines script.py arguments",
        "warpglass profile --metrics gld_efficiency,branch_efficiency script.py",
        "warpglass profile --save before.json script.py",
    ),
    "metrics": ("warpglass metrics", "warpglass metrics gld_efficiency"),
    "compare": (
        "warpglass compare before.json after.json",
        "warpglass compare before.json after.json --threshold 5%",
    ),
    "trace": (
        "warpglass trace oddeven_sort 3 1 2",
        "warpglass trace reduction:shared_sequential --plot tree.png",
        "warpglass trace reduction:interleaved --of 7",
        f"warpglass trace k.cu:scale {_LAUNCH}",
    ),
}


def epilog(command: str) -> str:
    """The examples of a command as its help shows them, a paragraph each."""
    return "\n\n".join(["Examples:", *(f"  {line}" for line in EXAMPLES[command])])
