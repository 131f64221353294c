"""What the core itself provides: its wrappers and its backends. A plugin like any other."""

from __future__ import annotations

from gem.specs import ExecutorSpec, PluginManifest, WrapperSpec

__all__ = ["plugin"]

plugin = PluginManifest(
    name="core",
    summary="Wrappers that every environment can use, and backends that run them.",
    wrappers=(
        WrapperSpec(
            id="concat",
            target="gem.wrappers._concat:Concat",
            summary="Show everything the environment said, as one prompt.",
            blocking=False,
            layer="prompt",
            rewrites_history=True,
        ),
        WrapperSpec(
            id="concat_with_action",
            target="gem.wrappers._concat_with_action:ConcatWithAction",
            summary="Show everything the environment said and the policy answered, as one prompt.",
            blocking=False,
            layer="prompt",
            rewrites_history=True,
        ),
        WrapperSpec(
            id="concat_chat",
            target="gem.wrappers._concat_chat:ConcatChat",
            summary="Render the conversation with a tokenizer's chat template: a finished prompt.",
            blocking=False,
            layer="prompt",
            rewrites_history=True,
        ),
        WrapperSpec(
            id="concat_chat_on_reset",
            target="gem.wrappers._concat_chat_on_reset:ConcatChatOnReset",
            summary="Render the first observation with a chat template and append what follows.",
            blocking=False,
            layer="prompt",
            rewrites_history=True,
        ),
        WrapperSpec(
            id="frame_stack",
            target="gem.wrappers._frame_stack:FrameStack",
            summary="Show the last few observations together.",
            blocking=False,
            layer="observation",
        ),
        WrapperSpec(
            id="system_prompt",
            target="gem.wrappers._system_prompt:SystemPrompt",
            summary="Open every episode with a message of the system.",
            blocking=False,
            layer="observation",
        ),
        WrapperSpec(
            id="transform_observation",
            target="gem.wrappers._transform_observation:TransformObservation",
            summary="Pass every observation through a function.",
            blocking=False,
            layer="observation",
        ),
        WrapperSpec(
            id="transform_action",
            target="gem.wrappers._transform_action:TransformAction",
            summary="Pass every action through a function before it is taken.",
            blocking=False,
        ),
        WrapperSpec(
            id="transform_reward",
            target="gem.wrappers._transform_reward:TransformReward",
            summary="Pass every reward through a function.",
            blocking=False,
        ),
        WrapperSpec(
            id="time_limit",
            target="gem.wrappers._time_limit:TimeLimit",
            summary="Truncate an episode after a number of actions.",
            blocking=False,
        ),
        WrapperSpec(
            id="episode_tracking",
            target="gem.wrappers._episode_tracking:EpisodeTracking",
            summary="Put the episode's return and length so far into info.",
            blocking=False,
            compat_target="gem.compat._tracking:EpisodeTrackingWrapper",
        ),
        WrapperSpec(
            id="seat",
            target="gem.wrappers._for_seat:ForSeat",
            summary="Put a wrapper around one seat of several.",
            blocking=False,
        ),
        WrapperSpec(
            id="seat_view",
            target="gem.wrappers._seat_view:SeatView",
            summary="Show one seat of several, the others being played by policies.",
            blocking=False,
        ),
        WrapperSpec(
            id="compat",
            target="gem.compat._environment:AsPublished",
            summary="Give flags, info and the order of tasks as gem-llm did; see `compat=True`.",
            blocking=False,
        ),
        WrapperSpec(
            id="record",
            target="gem.wrappers._record:Record",
            summary="Append every finished episode to a log.",
            blocking=True,  # each episode waits for the disk
        ),
    ),
    executors=(
        ExecutorSpec(
            id="inline",
            target="gem.hosting._in_thread:in_thread_host",
            summary="Call environments here; in rollouts, those that block on threads.",
        ),
        ExecutorSpec(
            id="process",
            target="gem.hosting._processes:process_host",
            summary="Hold environments in processes, which may compute for long, hang or die.",
        ),
        ExecutorSpec(
            id="sync",
            target="gem.hosting._in_thread:in_thread_host",
            summary="The same as inline.",
        ),
        ExecutorSpec(
            id="thread",
            target="gem.hosting._threads:thread_host",
            summary="Call environments on threads, for those that wait.",
        ),
    ),
)
