"""The observer page's words, by language."""

# ruff: noqa: RUF001 Chinese has its own punctuation

from collections.abc import Mapping
from dataclasses import dataclass

from gputide.charts import Language


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """What the page says beside its charts; `{}` fields are filled by name."""

    title: str = "{namespace}/{name}: predictions"
    seasonal: str = "The forecast follows the season that was found in the history."
    not_seasonal: str = "The forecast follows the newest demand: no season is in use."
    no_verdict: str = "The history has not been judged yet."
    now: str = "Now"
    issued: str = "issued {time}"
    strategy: str = "Strategy"
    metric: str = "Metric"
    demand: str = "Demand now"
    forecast: str = "Forecast demand"
    forecast_note: str = "most in the next {lead}, quantile {quantile}"
    desired: str = "Desired pods"
    current: str = "Pods now"
    unknown: str = "unknown"
    chain: str = "Why"
    chain_caption: str = "The decision, step by step"
    reason: str = "Reason"
    text: str = "In words"
    pods: str = "Pods"
    verdict: str = "Verdict on the history"
    verdict_caption: str = "What the forecast is worth"
    span: str = "History"
    known: str = "Known minutes"
    coverage: str = "Coverage of the upper value"
    loss: str = "Loss beside the mean demand"
    periods: str = "Periods"
    none: str = "none"
    bounds: str = "Bounds in force"
    bounds_caption: str = "Pods that are allowed now"
    least: str = "Least"
    most: str = "Most"
    place: str = "From"
    zone: str = "Time zone"
    what: str = "What"
    value: str = "Value"
    target: str = "Target"


ENGLISH = Words()
CHINESE = Words(
    title="{namespace}/{name}：预测",
    seasonal="预测采用了历史数据中发现的周期。",
    not_seasonal="预测跟随最新的需求：未采用周期。",
    no_verdict="尚未对历史数据作出评估。",
    now="当前状态",
    issued="生成于 {time}",
    strategy="策略",
    metric="指标",
    demand="当前需求",
    forecast="预测需求",
    forecast_note="未来 {lead} 内的最大值，分位数 {quantile}",
    desired="期望 Pod 数",
    current="当前 Pod 数",
    unknown="未知",
    chain="决策依据",
    chain_caption="逐步决策过程",
    reason="原因",
    text="说明",
    pods="Pod 数",
    verdict="对历史数据的评估",
    verdict_caption="预测的可信程度",
    span="历史跨度",
    known="已知分钟占比",
    coverage="上界覆盖率",
    loss="相对平均需求的损失",
    periods="周期",
    none="无",
    bounds="当前生效的边界",
    bounds_caption="当前允许的 Pod 数",
    least="最小",
    most="最大",
    place="来源",
    zone="时区",
    what="项目",
    value="值",
    target="目标",
)
WORDS: Mapping[Language, Words] = {"en": ENGLISH, "zh": CHINESE}
