"""The report page's words, by language. What the replay itself says stays as it came."""

# ruff: noqa: RUF001 Chinese has its own punctuation

from dataclasses import dataclass

from gputide.backtest.model import PolicyName
from gputide.charts.texts import Language


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportTexts:
    """Labels and sentences of the page; `{}` fields are filled by name."""

    title: str
    overview: str
    overview_meaning: str
    trace: str
    advice: str
    switch: str
    keep: str
    days: str
    median: str
    of_traces: str
    saving: str
    saving_note: str
    saving_stabilized: str
    saving_stabilized_note: str
    saturated: str
    late: str
    budget_note: str
    over_budget: str
    covered: str
    covered_note: str
    policies: str
    policies_caption: str
    policy: str
    replica_hours: str
    replica_hours_meaning: str
    saving_meaning: str
    saturated_meaning: str
    late_meaning: str
    changes: str
    changes_meaning: str
    started: str
    started_meaning: str
    knobs: str
    baseline: str
    footnote: str
    observer: str
    tuned_pods: str
    simulated_pods: str
    simulated_actual: str
    curves: str
    curve_saturated: str
    curve_late: str
    curve_meaning: str
    budget: str
    settings: str
    warnings: str
    measured: str
    how: tuple[str, ...]
    fact_span: str
    fact_zone: str
    fact_cadence: str
    cadence: str
    fact_capacity: str
    fact_delay: str
    fact_bounds: str
    fact_queue: str
    fact_budget: str
    fact_quantile: str
    names: dict[PolicyName, str]


ENGLISH = ReportTexts(
    title="What would prediction have saved?",
    overview="All traces",
    overview_meaning=(
        "Savings are replica-hours against the HPA that the same replay tunes; the harm that comes "
        "with each saving stands beside it."
    ),
    trace="Trace",
    advice="Advice",
    switch="switch to auto",
    keep="do not switch",
    days="Days",
    median="Median",
    of_traces="{switch} of {count}: switch",
    saving="Replica-hours saved",
    saving_note="against the HPA with its target tuned",
    saving_stabilized="… against the stronger HPA",
    saving_stabilized_note="target and stabilization tuned",
    saturated="Saturated minutes",
    late="Late demand",
    budget_note="budget {budget}",
    over_budget="▲ over the budget of {budget}",
    covered="Forecast coverage",
    covered_note="promised {quantile}",
    policies="What each policy would have cost",
    policies_caption="Policies over {days} days of known demand. ▲ marks harm above {budget}.",
    policy="Policy",
    replica_hours="Replica-hours",
    replica_hours_meaning="Hours that pods existed, starting ones included",
    saving_meaning="Replica-hours against the HPA with its target tuned by the same replay",
    saturated_meaning="Share of the minutes with any moment of demand above the ready capacity",
    late_meaning="Share of the demand that waited longer than {limit} s",
    changes="Changes / day",
    changes_meaning="How often the wanted number of pods changed",
    started="Started / day",
    started_meaning="Pods started a day",
    knobs="Knobs",
    baseline="baseline",
    footnote=(
        "* one fixed setting. The others choose theirs each day by a replay of earlier days alone; "
        "the knobs shown are the latest. \N{EN DASH} means unknown."
    ),
    observer="Actual and predicted",
    tuned_pods="HPA, tuned target",
    simulated_pods="pods of the HPA (none recorded)",
    simulated_actual=(
        "The source does not tell how many pods ran: "
        "the blue pods are those that the HPA would have run."
    ),
    curves="Cost against harm",
    curve_saturated="Replica-hours against saturated minutes",
    curve_late="Replica-hours against late demand",
    curve_meaning=(
        "Diamonds are the rows of the table. Each small point is another setting of a policy over "
        "the whole span, in hindsight; a line joins those that no other of the same policy beats. "
        "Lower and further left is better; left of the dashed line the harm is within the budget."
    ),
    budget="budget {budget}",
    settings="Settings",
    warnings="Warnings",
    measured="How it was measured",
    how=(
        (
            "Every policy meets the recorded demand minute by minute and knows only what lay "
            "before; the oracle alone knows the future. Pods serve once their start delay is over. "
            "Minutes whose demand is unknown count for nobody."
        ),
        (
            "Tuned policies choose their knobs by replaying earlier days. The curves alone use "
            "hindsight: they replay each setting over the whole span."
        ),
        (
            "Two harms are counted. Saturated minutes alone would flatter a forecast, whose misses "
            "are rarer but deeper; so the demand that waited too long stands beside them."
        ),
    ),
    fact_span="Evaluated",
    fact_zone="Time zone of days and weeks",
    fact_cadence="Recorded every",
    cadence="{recorded} s, replayed every {step} s",
    fact_capacity="Capacity of a pod",
    fact_delay="Start delay of a pod",
    fact_bounds="Pods, at least and at most",
    fact_queue="Demand is late after",
    fact_budget="Harm budget",
    fact_quantile="Quantile of the forecast",
    names={
        PolicyName.FIXED: "Fixed size",
        PolicyName.HPA: "HPA",
        PolicyName.HPA_TUNED: "HPA, tuned target",
        PolicyName.HPA_STABILIZED: "HPA, tuned target and stabilization",
        PolicyName.CRANE: "Crane style",
        PolicyName.LAST_DAY: "Last day",
        PolicyName.LAST_WEEK: "Last week",
        PolicyName.GPUTIDE_ONE_TARGET: "gputide, one target",
        PolicyName.GPUTIDE: "gputide",
        PolicyName.GPUTIDE_TUNED: "gputide, tuned",
        PolicyName.ORACLE: "Oracle (knows the future)",
    },
)

CHINESE = ReportTexts(
    title="预测本可以节省多少？",
    overview="全部负载",
    overview_meaning="节省指副本小时数，与同一回放调优的 HPA 相比；每项节省旁列出随之而来的损害。",
    trace="负载",
    advice="建议",
    switch="切换到 auto",
    keep="不切换",
    days="天数",
    median="中位数",
    of_traces="{count} 个中 {switch} 个：切换",
    saving="节省的副本小时",
    saving_note="相对于目标值调优的 HPA",
    saving_stabilized="……相对于更强的 HPA",
    saving_stabilized_note="目标值与稳定窗口均调优",
    saturated="饱和分钟",
    late="延迟的需求",
    budget_note="预算 {budget}",
    over_budget="▲ 超出预算 {budget}",
    covered="预测覆盖率",
    covered_note="承诺 {quantile}",
    policies="各策略的成本",
    policies_caption="各策略在 {days} 天已知需求上的结果。▲ 表示损害超过 {budget}。",
    policy="策略",
    replica_hours="副本小时",
    replica_hours_meaning="Pod 存在的小时数，包括启动中的 Pod",
    saving_meaning="副本小时，相对于同一回放调优目标值的 HPA",
    saturated_meaning="需求在任一时刻超过就绪容量的分钟所占比例",
    late_meaning="等待超过 {limit} 秒的需求所占比例",
    changes="变更次数/天",
    changes_meaning="期望 Pod 数变化的次数",
    started="启动数/天",
    started_meaning="每天启动的 Pod 数",
    knobs="参数",
    baseline="基准",
    footnote=(
        "* 固定设置。其余策略每天仅凭此前数天的回放选择参数，表中为最近一次的参数。"
        "\N{EN DASH} 表示未知。"
    ),
    observer="实际与预测",
    tuned_pods="HPA（目标值调优）",
    simulated_pods="HPA 的 Pod 数（无记录）",
    simulated_actual="数据源未给出实际 Pod 数：蓝色为 HPA 本应运行的 Pod 数。",
    curves="成本与损害",
    curve_saturated="副本小时与饱和分钟",
    curve_late="副本小时与延迟的需求",
    curve_meaning=(
        "菱形为表中各行。小点为同一策略的其他设置在整段时间上的事后结果；连线经过未被同一策略其他设置超过的点。"
        "越靠左下越好；虚线以左，损害在预算之内。"
    ),
    budget="预算 {budget}",
    settings="设置",
    warnings="警告",
    measured="测量方法",
    how=(
        (
            "每种策略逐分钟面对所记录的需求，只知道此前的数据（先知除外）。"
            "Pod 在启动延迟之后才提供服务。需求未知的分钟不计入任何策略。"
        ),
        "调优的策略通过回放更早的日子选择参数。只有曲线使用事后信息：显示每组设置在整段时间上的结果。",
        "统计两种损害。仅看饱和分钟会偏袒预测，因为它失误更少但更深；因此旁边列出等待过久的需求。",
    ),
    fact_span="评估区间",
    fact_zone="日与周所依时区",
    fact_cadence="记录间隔",
    cadence="{recorded} 秒，回放间隔 {step} 秒",
    fact_capacity="单个 Pod 的容量",
    fact_delay="Pod 启动延迟",
    fact_bounds="Pod 数下限与上限",
    fact_queue="需求延迟的界限",
    fact_budget="损害预算",
    fact_quantile="预测分位数",
    names={
        PolicyName.FIXED: "固定规模",
        PolicyName.HPA: "HPA",
        PolicyName.HPA_TUNED: "HPA（目标值调优）",
        PolicyName.HPA_STABILIZED: "HPA（目标值与稳定窗口调优）",
        PolicyName.CRANE: "Crane 方式",
        PolicyName.LAST_DAY: "前一天",
        PolicyName.LAST_WEEK: "前一周",
        PolicyName.GPUTIDE_ONE_TARGET: "gputide（单一目标值）",
        PolicyName.GPUTIDE: "gputide",
        PolicyName.GPUTIDE_TUNED: "gputide（调优）",
        PolicyName.ORACLE: "先知（已知未来）",
    },
)

REPORT_TEXTS: dict[Language, ReportTexts] = {"en": ENGLISH, "zh": CHINESE}
