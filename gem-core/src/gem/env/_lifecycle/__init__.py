"""The rules of use, put around every subclass of `Env` as it is defined.

The author's own reset, step and close are wrapped in guards: they seed, keep the phases, let one
call in at a time, and derive the form, synchronous or not, that was not written. The phase, the
seed and the turn count are on the base environment, under every wrapper. A wrapper keeps only
whether a call runs through it. A raise or a cancellation ends the episode.

            reset            step that ends it, a raise, a cancellation
    NEW ----------> RUNNING ------------------------------------------> ENDED
                       ^                                                  |
                       '--------------------- reset ----------------------'

The phase is BUSY while a call runs, and CLOSED for good from `close` on, which may come at any
time.
"""
