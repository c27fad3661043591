"""The public names and where they live; `lacunet.__getattr__` reads them here."""

from . import plots as plots
from . import sklearn as sklearn
from .ask.diagnose.diagnosis import diagnose as diagnose
from .ask.evaluate import kl_divergence as kl_divergence
from .ask.impute.fits import pool_fits as pool_fits
from .ask.impute.pool import pool as pool
from .ask.sensitivity.sensitivity import sensitivity as sensitivity
from .ask.worst_case import worst_case as worst_case
from .data.bins import discretise as discretise
from .data.data import Data as Data
from .data.data import ReplicateWeights as ReplicateWeights
from .data.examples import example_data as example_data
from .errors import LacunetError as LacunetError
from .errors import LacunetWarning as LacunetWarning
from .learning.closed_forms.forms import Deletion as Deletion
from .learning.count_rows import count as count
from .learning.em.em import EM as EM
from .learning.explain import explain as explain
from .learning.learn import learn as learn
from .learning.mgraph import MGraph as MGraph
from .learning.result import Interrupted as Interrupted
from .learning.result import Result as Result
from .learning.result import read_result as read_result
from .missingness.graph import MissingnessGraph as MissingnessGraph
from .missingness.learned.learn_missingness import learn_missingness as learn_missingness
from .network.bridges import from_pgmpy as from_pgmpy
from .network.bridges import from_pyagrum as from_pyagrum
from .network.bridges import to_pgmpy as to_pgmpy
from .network.bridges import to_pyagrum as to_pyagrum
from .network.catalogue import example as example
from .network.formats.files import read_network as read_network
from .network.network import Network as Network
from .network.shapes.fixed import Fixed as Fixed
from .network.shapes.noisy_max import NoisyMax as NoisyMax
from .network.shapes.noisy_or import NoisyOr as NoisyOr
from .simulation.at_random import MAR as MAR
from .simulation.at_random import MCAR as MCAR
from .simulation.by_graph import MissingByGraph as MissingByGraph
from .simulation.simulate import hide as hide
from .simulation.simulate import simulate as simulate
from .structure.cpdag import compare_structures as compare_structures
from .structure.learn_structure import learn_structure as learn_structure

__version__: str
__all__: list[str]
