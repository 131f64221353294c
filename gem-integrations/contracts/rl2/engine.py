"""What stands for SGLang: a server that answers by the script, and the names that RL2 imports.

Stubbed are `ServerArgs`, `launch_server_process`, `launch_server`, `MultiprocessingSerializer`,
`LocalSerializedTensor`, `FlattenedTensorBucket` and `monkey_patch_torch_reductions` of `sglang`,
and `RouterArgs` and `launch_router` of `sglang_router`: they start servers and send weights, and
want CUDA. Nothing of RL2 is.
"""

from __future__ import annotations

import asyncio
import sys
from types import ModuleType
from typing import Any

from aiohttp import web
from harness import OPENER, scripted

STUBBED = {
    "sglang.srt.server_args": "ServerArgs",
    "sglang.srt.entrypoints.http_server_engine": "launch_server_process",
    "sglang.srt.entrypoints.http_server": "launch_server",
    "sglang.srt.utils": "MultiprocessingSerializer",
    "sglang.srt.utils.patch_torch": "monkey_patch_torch_reductions",
    "sglang.srt.patch_torch": "monkey_patch_torch_reductions",
    "sglang.srt.weight_sync.tensor_bucket": "FlattenedTensorBucket",
    "sglang.srt.model_executor.model_runner": "LocalSerializedTensor",
    "sglang_router.launch_router": "RouterArgs launch_router",
}


def stub_sglang() -> None:
    """Let RL2 import what it would start."""
    for path, names in STUBBED.items():
        parts = path.split(".")
        for end in range(1, len(parts) + 1):
            sys.modules.setdefault(".".join(parts[:end]), ModuleType(".".join(parts[:end])))
        for name in names.split():
            setattr(sys.modules[path], name, None)


class Engine:
    """Answer `/generate` by the script; remember what was asked.

    `aborts` are how many tokens the next answers may have before they are aborted. With
    `holds_turns` all answers but the first of an episode wait until generation is paused, and
    are then aborted.
    """

    def __init__(self, tokenizer: Any, *, first: str = "") -> None:
        self.tokenizer = tokenizer
        self.first = first
        self.aborts: list[int] = []
        self.holds_turns = False
        self.status = 200
        self.is_silent = False
        self.asked: list[list[int]] = []
        self.params: list[dict[str, Any]] = []
        self.calls: list[str] = []
        self._pause = asyncio.Event()
        self._opener = tokenizer.encode(OPENER, add_special_tokens=False)

    async def __aenter__(self) -> str:
        app = web.Application()
        app.router.add_post("/generate", self._generate)
        for name in ("pause_generation", "continue_generation", "release_memory_occupation"):
            app.router.add_post(f"/{name}", self._control)
        self._runner = web.AppRunner(app)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        assert site._server is not None
        return f"http://127.0.0.1:{site._server.sockets[0].getsockname()[1]}"

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()

    async def _control(self, request: web.Request) -> web.Response:
        self.calls.append(request.path.strip("/"))
        if self.calls[-1] == "pause_generation":
            self._pause.set()
        return web.json_response({})

    async def _generate(self, request: web.Request) -> web.Response:
        asked = await request.json()
        if self.status != 200:
            return web.Response(status=self.status)
        assert asked["return_logprob"] is True
        assert asked["sampling_params"]["no_stop_trim"] is True
        self.asked.append(asked["input_ids"])
        self.params.append(asked["sampling_params"])
        room = self.aborts.pop(0) if self.aborts else None
        if self.holds_turns and not self._pause.is_set() and len(self._opened(asked)) > 1:
            await self._pause.wait()
            room = 2
        return web.json_response(self._answer(asked, room))

    def _opened(self, asked: dict[str, Any]) -> list[int]:
        """Return where answers begin."""
        ids, opener = asked["input_ids"], self._opener
        size = len(opener)
        return [at + size for at in range(len(ids)) if ids[at : at + size] == opener]

    def _answer(self, asked: dict[str, Any], room: int | None) -> dict[str, Any]:
        ids, opens = asked["input_ids"], self._opened(asked)[-1]
        whole = scripted(self.tokenizer, ids[:opens], first=self.first)
        said, budget = len(ids) - opens, asked["sampling_params"]["max_new_tokens"]
        limits = [each for each in (budget, room) if each is not None]
        end = said + min([len(whole.ids) - said, *limits]) if not self.is_silent else said
        reason = "stop" if end == len(whole.ids) else "abort" if room == end - said else "length"
        told = whole.logprobs or ()
        return {
            "text": self.tokenizer.decode(whole.ids[said:end]),
            "meta_info": {
                "output_token_logprobs": [
                    [logprob, id, None]
                    for logprob, id in zip(told[said:end], whole.ids[said:end], strict=True)
                ],
                "finish_reason": {"type": reason},
                "completion_tokens": end - said,
            },
        }
