"""What a client raises is told apart by name: whose fault it is, and whether to try again."""

import pytest
from redis import exceptions

from lockstitch.errors import CorruptRow, StoreError, StoreUnavailable
from lockstitch.stores.redis.failures import crowded, translated, unknown_script


@pytest.mark.parametrize(
    "error",
    [
        exceptions.ConnectionError("Connection refused"),
        exceptions.TimeoutError("Timeout reading from socket"),
        exceptions.BusyLoadingError("LOADING Redis is loading the dataset in memory"),
        exceptions.ReadOnlyError("You can't write against a read only replica."),
        exceptions.ClusterDownError("CLUSTERDOWN The cluster is down"),
        exceptions.TryAgainError("TRYAGAIN Multiple keys request during rehashing of slot"),
        exceptions.AskError("1 127.0.0.1:7000"),
        exceptions.ClusterError("TTL exhausted."),
        exceptions.MasterDownError("Link with MASTER is down"),
        exceptions.SlotNotCoveredError('Slot "1" not covered by the cluster.'),
        exceptions.RedisClusterException("Redis Cluster cannot be connected."),
        exceptions.ResponseError("BUSY Redis is busy running a script."),
        exceptions.ResponseError("Error running script: -NOREPLICAS Not enough good replicas"),
        ConnectionResetError("reset"),
        TimeoutError(),
    ],
    ids=lambda error: type(error).__name__,
)
def test_what_may_work_a_little_later_is_unavailable(error):
    meant = translated(error)
    assert isinstance(meant, StoreUnavailable)
    assert meant.retryable


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (exceptions.OutOfMemoryError("command not allowed when used memory > 'maxmemory'."), "ttl"),
        (exceptions.ResponseError("@user_script: -OOM command not allowed"), "maxmemory"),
        (exceptions.ResponseError("MISCONF Redis is configured to save"), "disk"),
        (exceptions.NoPermissionError("No permissions to access a key"), "ACL"),
        (exceptions.AuthenticationError("invalid username-password pair"), "password"),
        (exceptions.AuthenticationWrongNumberOfArgsError("wrong number"), "password"),
        (exceptions.MovedError("1 127.0.0.1:7000"), "redis+cluster://"),
        (exceptions.ResponseError("unknown command 'EVALSHA'"), "unknown command"),
        (exceptions.DataError(), "DataError"),
    ],
)
def test_what_will_not_work_later_says_what_to_do(error, words):
    meant = translated(error)
    assert type(meant) is StoreError
    assert not meant.retryable
    assert words in str(meant)


def test_a_key_of_another_type_is_damage():
    error = exceptions.ResponseError("WRONGTYPE Operation against a key holding the wrong kind")
    assert isinstance(translated(error), CorruptRow)


@pytest.mark.parametrize("error", [KeyError("x"), TypeError("x"), RuntimeError("loop is closed")])
def test_a_mistake_in_a_program_is_left_as_it_is(error):
    assert translated(error) is None


def test_a_pool_that_is_empty_is_told_from_a_server_that_is_away():
    assert crowded(exceptions.MaxConnectionsError("Too many connections"))
    assert crowded(exceptions.ConnectionError("Too many connections"))  # redis-py 5
    assert crowded(exceptions.MaxConnectionsError())
    assert not crowded(exceptions.ConnectionError("refused"))


def test_a_script_that_is_unknown_is_told_from_other_errors():
    assert unknown_script(exceptions.NoScriptError("No matching script. Please use EVAL."))
    assert not unknown_script(exceptions.ResponseError("NO"))
