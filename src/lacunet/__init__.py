"""Learn the parameters of discrete Bayesian networks from incomplete data.

>>> import lacunet as lc
>>> network = lc.Network({"A": ["no", "yes"], "B": ["no", "yes"]}, {"B": ["A"]})
>>> rows = {"A": ["yes", "no", None, "yes"], "B": ["yes", "no", "no", None]}
>>> result = lc.learn(network, rows, method="direct-mcar", prior=1)
>>> result.network.cpt("B").table.tolist()
[[1.0, 0.0], [0.0, 1.0]]
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lacunet.bridges import from_pgmpy, from_pyagrum, to_pgmpy, to_pyagrum
    from lacunet.building.bins import discretise
    from lacunet.completion.predict import Predictor, compile, predict  # noqa: A004
    from lacunet.data.examples import example_data
    from lacunet.data.given import Data, ReplicateWeights
    from lacunet.diagnosis.diagnosis import diagnose
    from lacunet.diagnosis.drift import Drift, drift
    from lacunet.diagnosis.sensitivity import sensitivity
    from lacunet.errors import LacunetError, LacunetWarning
    from lacunet.estimate.auto import Auto
    from lacunet.estimate.count import count
    from lacunet.estimate.deletion.forms import (
        DirectMAR,
        DirectMCAR,
        FactoredMAR,
        FactoredMCAR,
        InformedDirect,
        InformedFactored,
        Listwise,
    )
    from lacunet.estimate.em.method import EM, LoopyEM, OneStep
    from lacunet.estimate.explain import Explanation, explain
    from lacunet.estimate.learn import learn
    from lacunet.estimate.mgraph import MGraph
    from lacunet.estimate.prior import LearnedPrior
    from lacunet.estimate.result import Interrupted, Result, read_result
    from lacunet.evaluate import kl_divergence
    from lacunet.formats.catalogue import example
    from lacunet.formats.files import read_network, write_network
    from lacunet.imputation.impute import impute
    from lacunet.imputation.pool import Pooled, pool
    from lacunet.inference.answer import Answer
    from lacunet.inference.likelihood import log_likelihood
    from lacunet.inference.query import marginals, query
    from lacunet.missingness.graph import MissingnessGraph
    from lacunet.missingness.learn import learn_missingness
    from lacunet.model.network import Cpt, Network
    from lacunet.pages.notebook import Page
    from lacunet.report.learned.tables import EstimateTable
    from lacunet.simulation.at_random import MAR, MCAR, InformedMAR
    from lacunet.simulation.by_graph import MissingByGraph
    from lacunet.simulation.simulate import hide, sample, simulate
    from lacunet.statistics.gather import Statistics
    from lacunet.structure.cpdag import compare_structures, to_cpdag
    from lacunet.structure.learn import learn_structure
    from lacunet.uncertainty.bounds import worst_case
    from lacunet.uncertainty.effect import effect

__version__ = "0.3.0"

__all__ = [
    "EM",
    "MAR",
    "MCAR",
    "Answer",
    "Auto",
    "Cpt",
    "Data",
    "DirectMAR",
    "DirectMCAR",
    "Drift",
    "EstimateTable",
    "Explanation",
    "FactoredMAR",
    "FactoredMCAR",
    "InformedDirect",
    "InformedFactored",
    "InformedMAR",
    "Interrupted",
    "LacunetError",
    "LacunetWarning",
    "LearnedPrior",
    "Listwise",
    "LoopyEM",
    "MGraph",
    "MissingByGraph",
    "MissingnessGraph",
    "Network",
    "OneStep",
    "Page",
    "Pooled",
    "Predictor",
    "ReplicateWeights",
    "Result",
    "Statistics",
    "compare_structures",
    "compile",
    "count",
    "diagnose",
    "discretise",
    "drift",
    "effect",
    "example",
    "example_data",
    "explain",
    "from_pgmpy",
    "from_pyagrum",
    "hide",
    "impute",
    "kl_divergence",
    "learn",
    "learn_missingness",
    "learn_structure",
    "log_likelihood",
    "marginals",
    "pool",
    "predict",
    "query",
    "read_network",
    "read_result",
    "sample",
    "sensitivity",
    "simulate",
    "to_cpdag",
    "to_pgmpy",
    "to_pyagrum",
    "worst_case",
    "write_network",
]

# Names are fetched when they are first used: importing the package costs next to nothing.
_HOME_OF = {
    "Drift": "diagnosis.drift",
    "EM": "estimate.em.method",
    "MAR": "simulation.at_random",
    "MCAR": "simulation.at_random",
    "Answer": "inference.answer",
    "Auto": "estimate.auto",
    "Cpt": "model.network",
    "Data": "data.given",
    "DirectMAR": "estimate.deletion.forms",
    "DirectMCAR": "estimate.deletion.forms",
    "EstimateTable": "report.learned.tables",
    "Explanation": "estimate.explain",
    "FactoredMAR": "estimate.deletion.forms",
    "FactoredMCAR": "estimate.deletion.forms",
    "InformedDirect": "estimate.deletion.forms",
    "InformedFactored": "estimate.deletion.forms",
    "InformedMAR": "simulation.at_random",
    "Interrupted": "estimate.result",
    "LacunetError": "errors",
    "LacunetWarning": "errors",
    "LearnedPrior": "estimate.prior",
    "Listwise": "estimate.deletion.forms",
    "LoopyEM": "estimate.em.method",
    "MGraph": "estimate.mgraph",
    "MissingByGraph": "simulation.by_graph",
    "MissingnessGraph": "missingness.graph",
    "Network": "model.network",
    "Page": "pages.notebook",
    "OneStep": "estimate.em.method",
    "Pooled": "imputation.pool",
    "Predictor": "completion.predict",
    "ReplicateWeights": "data.given",
    "Result": "estimate.result",
    "Statistics": "statistics.gather",
    "compare_structures": "structure.cpdag",
    "compile": "completion.predict",
    "count": "estimate.count",
    "diagnose": "diagnosis.diagnosis",
    "discretise": "building.bins",
    "drift": "diagnosis.drift",
    "effect": "uncertainty.effect",
    "example": "formats.catalogue",
    "example_data": "data.examples",
    "explain": "estimate.explain",
    "from_pgmpy": "bridges",
    "from_pyagrum": "bridges",
    "hide": "simulation.simulate",
    "impute": "imputation.impute",
    "kl_divergence": "evaluate",
    "learn": "estimate.learn",
    "learn_missingness": "missingness.learn",
    "learn_structure": "structure.learn",
    "log_likelihood": "inference.likelihood",
    "marginals": "inference.query",
    "pool": "imputation.pool",
    "predict": "completion.predict",
    "query": "inference.query",
    "read_network": "formats.files",
    "read_result": "estimate.result",
    "sample": "simulation.simulate",
    "sensitivity": "diagnosis.sensitivity",
    "simulate": "simulation.simulate",
    "to_cpdag": "structure.cpdag",
    "to_pgmpy": "bridges",
    "to_pyagrum": "bridges",
    "worst_case": "uncertainty.bounds",
    "write_network": "formats.files",
}

# What other libraries call it, and what to write.
_INSTEAD = {
    **dict.fromkeys(("fit", "estimate", "train", "bn_fit"), "lacunet.learn(network, data)"),
    "em": 'lacunet.learn(network, data, "em")',
    "bootstrap": "lacunet.learn(network, data, intervals=True): intervals need no bootstrap",
    "ate": 'lacunet.effect(result, "Outcome", do="Treatment")',
    **dict.fromkeys(
        ("read", "load", "open"),
        'lacunet.read_network("net.bif"), or lacunet.read_result("result.json") with intervals',
    ),
    **dict.fromkeys(
        ("load_network", "read_bif", "read_xdsl", "read_net", "read_uai"),
        'lacunet.read_network("net.bif"): the ending says the format',
    ),
    "load_result": 'lacunet.read_result("result.json")',
    **dict.fromkeys(
        ("write", "save_network", "write_bif", "write_xdsl", "write_net", "write_uai"),
        'lacunet.write_network(network, "net.bif"): the ending says the format',
    ),
    **dict.fromkeys(
        ("networks", "examples", "load_example", "list_networks", "example_network"),
        'lacunet.example("asia"); `lacunet networks` lists them',
    ),
    **dict.fromkeys(
        ("BayesianNetwork", "DiscreteBayesianNetwork", "BayesNet", "BN", "Model", "DAG"),
        'lacunet.Network, or lacunet.Network.from_data(data, "A -> B; B -> C")',
    ),
    **dict.fromkeys(("from_data", "network"), 'lacunet.Network.from_data(data, "A -> B; B -> C")'),
    **dict.fromkeys(
        ("infer", "inference", "ask", "posterior", "probability"),
        'lacunet.query(network, "X", {"Y": "y"})',
    ),
    **dict.fromkeys(("structure", "hc", "learn_dag"), "lacunet.learn_structure(data)"),
    **dict.fromkeys(
        ("recover", "identify", "recoverable"),
        "graph = lacunet.MissingnessGraph.parse('Age -> R[Income]', 'Age -> Income', data=data), "
        "then verdict = graph.recover('P(Income)'), or graph.recover() for all CPTs, then "
        "verdict.estimate(data, interval=True)",
    ),
    **dict.fromkeys(("merge", "merge_counts"), "statistics + statistics: lacunet.count gives them"),
    **dict.fromkeys(("ampute", "mask"), "lacunet.hide(network, frame, lacunet.MCAR())"),
    **dict.fromkeys(("generate", "rbn"), "lacunet.simulate(network, rows)"),
    "save": 'result.write("result.json"), or lacunet.write_network(network, "net.bif")',
    "plots": "import lacunet.plots first",
    "plot": 'result.report("page.html"), or lacunet.plots.network_figure(result)',
    "sklearn": "import lacunet.sklearn first",
    **dict.fromkeys(
        ("Classifier", "BayesianNetworkClassifier", "BayesNetClassifier"),
        "from lacunet.sklearn import BayesianNetworkClassifier",
    ),
    **dict.fromkeys(
        ("Imputer", "BayesianNetworkImputer"), "from lacunet.sklearn import BayesianNetworkImputer"
    ),
    **dict.fromkeys(
        ("mcar_test", "little_test", "littles_test", "test_mcar", "md_pattern"),
        "lacunet.diagnose(data).mcar (tests of MCAR), .mar, .patterns",
    ),
    **dict.fromkeys(
        ("read_csv", "read_table", "read_parquet", "read_data", "load_csv", "load_data"),
        'the path itself in place of the data: lacunet.learn(network, "rows.csv")',
    ),
    **dict.fromkeys(
        ("evaluate", "score", "loglik"),
        "lacunet.log_likelihood(result, data), or lacunet.kl_divergence(truth, result)",
    ),
    **dict.fromkeys(
        ("bic", "BIC"),
        "lacunet.log_likelihood(result, data) - math.log(result.total) / 2 * "
        "result.network.free_parameters, the BIC of results of learn(..., 'em', prior=1)",
    ),
    **dict.fromkeys(("mice", "complete"), "lacunet.impute(network, data, draws=5)"),
    **dict.fromkeys(
        ("compare", "compare_methods", "benchmark"),
        "`lacunet compare NETWORK DATA` in a shell, which ranks methods; "
        "lacunet.compare_structures(truth, found) compares structures",
    ),
    **dict.fromkeys(
        ("value_of_information", "voi", "mutual_information", "information_gain"),
        'lacunet.query(result, "X", {"Y": "y"}) for each state y of Y, weighed by '
        'lacunet.query(result, "Y"): no function says what it is worth to observe Y',
    ),
}


def __getattr__(name: str) -> object:
    if name not in _HOME_OF:
        from lacunet.hints import no_attribute

        raise no_attribute("module 'lacunet'", name, __all__, _INSTEAD)
    found = getattr(import_module(f"lacunet.{_HOME_OF[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted([*__all__, *(name for name in globals() if name.startswith("__"))])
