"""The public names and where they live; `lacunet.__getattr__` reads them here."""

from .bridges import from_pgmpy as from_pgmpy
from .bridges import from_pyagrum as from_pyagrum
from .bridges import to_pgmpy as to_pgmpy
from .bridges import to_pyagrum as to_pyagrum
from .building.bins import discretise as discretise
from .data.examples import example_data as example_data
from .data.given import Data as Data
from .data.given import ReplicateWeights as ReplicateWeights
from .diagnosis.diagnosis import diagnose as diagnose
from .diagnosis.sensitivity import sensitivity as sensitivity
from .errors import LacunetError as LacunetError
from .errors import LacunetWarning as LacunetWarning
from .estimate.count import count as count
from .estimate.deletion.forms import Deletion as Deletion
from .estimate.em.method import EM as EM
from .estimate.explain import explain as explain
from .estimate.learn import learn as learn
from .estimate.mgraph import MGraph as MGraph
from .estimate.result import Interrupted as Interrupted
from .estimate.result import Result as Result
from .estimate.result import read_result as read_result
from .evaluate import kl_divergence as kl_divergence
from .formats.catalogue import example as example
from .formats.files import read_network as read_network
from .imputation.pool import pool as pool
from .missingness.graph import MissingnessGraph as MissingnessGraph
from .missingness.learn import learn_missingness as learn_missingness
from .model.network import Network as Network
from .simulation.at_random import MAR as MAR
from .simulation.at_random import MCAR as MCAR
from .simulation.by_graph import MissingByGraph as MissingByGraph
from .simulation.simulate import hide as hide
from .simulation.simulate import simulate as simulate
from .structure.cpdag import compare_structures as compare_structures
from .structure.learn import learn_structure as learn_structure
from .uncertainty.bounds import worst_case as worst_case

__version__: str
__all__: list[str]
