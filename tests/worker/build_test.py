"""Models are built without published weights and in float32."""

import types

import pytest
import torch
import transformers
from breakwatch_worker.model import architecture, build
from inputs_test import TEXT


def test_a_model_whose_initialisation_fails_is_built_without_it():
    class Forgetful(transformers.BertModel):
        def _init_weights(self, module):
            raise AttributeError("'NoneType' object has no attribute 'data'")

    model = build.construct(Forgetful, transformers.BertConfig(**TEXT))
    assert torch.isfinite(model(torch.ones(1, 4).long()).last_hidden_state).all()


def test_a_model_that_cannot_be_built_raises_its_own_error():
    class Broken(transformers.BertModel):
        def __init__(self, config):
            raise AttributeError("no such part")

    with pytest.raises(AttributeError, match="no such part"):
        build.construct(Broken, transformers.BertConfig(**TEXT))


@pytest.mark.parametrize("key", ["fp16_esm", "use_pretrained_backbone"])
def test_keys_of_the_table_are_switched_off_in_every_part_of_a_config(key):
    config = transformers.BertConfig(**TEXT)
    config.part, config.sub = types.SimpleNamespace(**{key: True}), transformers.BertConfig(**TEXT)
    setattr(config.sub, key, True)
    build.switch_off(config)
    assert (getattr(config.part, key), getattr(config.sub, key)) == (False, False)
    assert not hasattr(config, key)


def test_making_a_config_does_not_print_it():
    class Printing(transformers.BertConfig):
        printed = []

        @classmethod
        def from_dict(cls, values):
            config = cls(**values)
            cls.printed.append(f"{config}")
            return config

        def to_dict(self):
            raise OSError("the defaults of a part are on the Hub")

    assert architecture.from_dict(Printing, TEXT).hidden_size == TEXT["hidden_size"]
    with pytest.raises(OSError, match="on the Hub"):
        str(Printing(**TEXT))
