from __future__ import annotations

import shutil
import subprocess

import pytest

from lacunet.cli import main


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
@pytest.mark.parametrize(
    ("typed", "expected"),
    [(["lacunet", "lea"], {"learn"}), (["lacunet", "learn", "--pri"], {"--prior"})],
)
def test_bash_completes_commands_and_options(
    capsys: pytest.CaptureFixture[str], typed: list[str], expected: set[str]
) -> None:
    assert main(["completions", "bash"]) == 0
    words = " ".join(typed)
    script = (
        f"{capsys.readouterr().out}\nCOMP_WORDS=({words}); COMP_CWORD={len(typed) - 1}\n"
        '_lacunet; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) == expected


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_are_told_of_every_command(
    capsys: pytest.CaptureFixture[str], shell: str
) -> None:
    from lacunet.cli.parsing import COMMANDS

    main(["completions", shell])
    printed = capsys.readouterr().out
    assert all(name in printed for name in COMMANDS)


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        (["lacunet", "learn", "--method", "fact"], {"factored-mcar", "factored-mar"}),
        (["lacunet", "learn", "alar"], {"alarm"}),
        (["lacunet", "simulate", "--hide", "m"], {"mcar", "mar"}),
        (["lacunet", "learn", "--unknown", "m"], {"missing"}),
        (["lacunet", "completions", "z"], {"zsh"}),
    ],
)
def test_bash_completes_methods_networks_and_choices(
    capsys: pytest.CaptureFixture[str], typed: list[str], expected: set[str]
) -> None:
    assert main(["completions", "bash"]) == 0
    script = (
        f"{capsys.readouterr().out}\nCOMP_WORDS=({' '.join(typed)}); COMP_CWORD={len(typed) - 1}\n"
        '_lacunet; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) == expected
