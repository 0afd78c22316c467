from gputide.backtest.model import PolicyName
from gputide.backtest.policies.field import Field, build_field, forecast_quantiles
from gputide.backtest.settings import BacktestSettings


def field(*policies: PolicyName) -> Field:
    settings = BacktestSettings(policies=policies or tuple(PolicyName))
    return build_field(settings, fixed_replicas=12, fixed_sweep=[10, 12, 14])


def test_every_policy_takes_part_once() -> None:
    found = field()

    assert {*found.plain, *(tuned.policy for tuned in found.tuned)} == set(PolicyName)
    assert set(found.curves) == set(PolicyName)


def test_a_setting_that_two_policies_share_is_replayed_once() -> None:
    identities = [setting.identity for setting in field().settings]

    assert len(set(identities)) == len(identities)


def test_the_tuned_hpa_keeps_kubernetes_window_and_the_stabilized_one_chooses_it() -> None:
    found = field()
    windows = {
        tuned.policy: {found.settings[at].knobs["stabilization_seconds"] for at in tuned.pool}
        for tuned in found.tuned
        if tuned.policy in (PolicyName.HPA_TUNED, PolicyName.HPA_STABILIZED)
    }

    assert windows[PolicyName.HPA_TUNED] == {300}
    assert windows[PolicyName.HPA_STABILIZED] == {300, 900, 1800, 3600}


def test_only_what_the_wanted_policies_need_is_replayed() -> None:
    found = field(PolicyName.HPA, PolicyName.ORACLE)

    assert {setting.policy for setting in found.settings} == {PolicyName.HPA, PolicyName.ORACLE}
    assert not found.tuned


def test_tuned_gputide_may_fall_back_to_the_plain_hpa() -> None:
    found = field(PolicyName.GPUTIDE_TUNED)
    (tuned,) = found.tuned

    assert {found.settings[at].policy for at in tuned.gate} == {PolicyName.HPA}
    assert {found.settings[at].policy for at in tuned.pool} == {PolicyName.GPUTIDE}


def test_one_quantile_is_forecast_where_no_policy_tunes_it() -> None:
    wanted = BacktestSettings(policies=(PolicyName.GPUTIDE_ONE_TARGET,), quantile=97)

    assert forecast_quantiles(wanted) == (0.97,)
