"""The page's own words, by language."""

# ruff: noqa: RUF001 Chinese has its own punctuation

from dataclasses import dataclass
from typing import Literal

Language = Literal["en", "zh"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Texts:
    """What the page says by itself; `{}` fields are filled by name."""

    tag: str
    """BCP 47, for `<html lang>`."""

    skip: str
    contents: str
    to_dark: str
    to_light: str
    needs_script: str
    keys: str
    scatter_keys: str
    reset_zoom: str
    table: str
    csv: str
    time: str
    zone: str
    least: str
    most: str
    mean: str
    unknown: str
    summary: str
    summary_unknown: str
    thinned: str
    scatter_summary: str
    table_rows: str
    no_data: str

    gpu_title: str
    gpu_meaning: str
    gpu_actual: str
    gpu_predicted: str
    pod_title: str
    pod_meaning: str
    pod_actual: str
    pod_predicted: str
    pods: str
    observer: str


ENGLISH = Texts(
    tag="en",
    skip="Skip to content",
    contents="Contents",
    to_dark="Dark",
    to_light="Light",
    needs_script="The charts need JavaScript; the numbers above and below do not.",
    keys="Arrow keys move the cursor, plus and minus zoom, 0 shows all",
    scatter_keys="Arrow keys walk along the points",
    reset_zoom="Show all",
    table="As a table",
    csv="Save as CSV",
    time="Time",
    zone="Times in {zone}.",
    least="least",
    most="most",
    mean="mean",
    unknown="unknown",
    summary="{label}: {least} to {most}, {mean} on average",
    summary_unknown=", unknown {share} of the time",
    thinned="Each pair of points shows the least and the most of {minutes} minutes.",
    scatter_summary=(
        "{label} ({points}): {x_label} {x_least} to {x_most}, {y_label} {y_least} to {y_most}"
    ),
    table_rows="Least and most of each of {rows} equal parts of the time shown.",
    no_data="No data",
    gpu_title="Predict GPU Resource Observer",
    gpu_meaning=(
        "Blue is the GPU demand that came, green what was predicted for it. "
        "Good: green lies above blue most of the time, so the predicted capacity suffices."
    ),
    gpu_actual="actual",
    gpu_predicted="predicted",
    pod_title="Predict POD Observer",
    pod_meaning=(
        "Blue is the pods that ran, green the pods that prediction asks for. "
        "Good: green lies below blue most of the time, so switching to auto would save pods."
    ),
    pod_actual="actual pods",
    pod_predicted="predicted pods",
    pods="pods",
    observer="Observer",
)

CHINESE = Texts(
    tag="zh-Hans",
    skip="跳到正文",
    contents="目录",
    to_dark="深色",
    to_light="浅色",
    needs_script="图表需要 JavaScript；上下文中的数字不需要。",
    keys="方向键移动光标，加号和减号缩放，0 显示全部",
    scatter_keys="方向键依次查看各点",
    reset_zoom="显示全部",
    table="以表格显示",
    csv="保存为 CSV",
    time="时间",
    zone="时间所在时区：{zone}。",
    least="最小",
    most="最大",
    mean="平均",
    unknown="未知",
    summary="{label}：{least} 至 {most}，平均 {mean}",
    summary_unknown="，{share} 的时间未知",
    thinned="每对点表示 {minutes} 分钟内的最小值和最大值。",
    scatter_summary=(
        "{label}（{points}）：{x_label} {x_least} 至 {x_most}，{y_label} {y_least} 至 {y_most}"
    ),
    table_rows="将所示时间等分为 {rows} 段，列出每段的最小值和最大值。",
    no_data="无数据",
    gpu_title="Predict GPU Resource Observer（GPU 资源预测）",
    gpu_meaning="蓝色为实际的 GPU 需求，绿色为预测值。绿色大部分时间高于蓝色，说明预测的容量充足。",
    gpu_actual="实际",
    gpu_predicted="预测",
    pod_title="Predict POD Observer（Pod 数预测）",
    pod_meaning=(
        "蓝色为实际运行的 Pod 数，绿色为预测所需的 Pod 数。"
        "绿色大部分时间低于蓝色，说明切换到 auto 可以节省 Pod。"
    ),
    pod_actual="实际 Pod 数",
    pod_predicted="预测 Pod 数",
    pods="Pod",
    observer="预测观察",
)

LANGUAGES: dict[Language, Texts] = {"en": ENGLISH, "zh": CHINESE}
