"""Models of other libraries: timm, pipelines and components of diffusers, sentence-transformers."""

import importlib.util

import pytest
import worker_support  # noqa: F401  puts the worker on the path
from breakwatch_worker.libraries import diffusers_inputs, diffusers_sizes, pipeline

needs_diffusers = pytest.mark.skipif(importlib.util.find_spec("diffusers") is None, reason="diffusers is not installed")
needs_timm = pytest.mark.skipif(importlib.util.find_spec("timm") is None, reason="timm is not installed")

CLIP_TEXT = {"architectures": ["CLIPTextModel"], "model_type": "clip_text_model", "hidden_size": 32,
             "intermediate_size": 64, "num_attention_heads": 2, "num_hidden_layers": 2, "vocab_size": 100}
VAE = {"_class_name": "AutoencoderKL", "_diffusers_version": "0.1.0", "block_out_channels": [32], "in_channels": 3}
UNET = {
    "_class_name": "UNet2DConditionModel", "attention_head_dim": 8, "block_out_channels": [64, 128],
    "cross_attention_dim": 64, "down_block_types": ["CrossAttnDownBlock2D", "DownBlock2D"],
    "up_block_types": ["UpBlock2D", "CrossAttnUpBlock2D"], "layers_per_block": 2, "sample_size": 64,
}


def bundle(components: dict, **more) -> dict:
    index = {"_class_name": "TestPipeline", "scheduler": ["diffusers", "PNDMScheduler"],
             "tokenizer": ["transformers", "CLIPTokenizer"], "safety_checker": [None, None]}
    return {"model_index": {**index, **more}, "components": components}


@needs_timm
def test_a_timm_model_gets_the_image_size_of_its_configuration(zygote):
    config = {"architecture": "resnet18", "num_classes": 7, "pretrained_cfg": {"input_size": [3, 96, 96]},
              "model_args": {"checkpoint_path": "/etc/hostname"}}  # because we must not read its weights
    result = zygote.capture(config, library="timm")
    assert (result["status"], result["breaks"], result["graphs"]) == ("full_graph", 0, 1), result["detail"]
    assert result["architecture"] == "resnet18" and result["depth"] == "original"
    assert result["inputs"]["x"]["shape"] == [2, 3, 96, 96]
    assert result["params"] < 11_689_512  # of the 1,000 classes


@needs_timm
def test_a_timm_model_that_checks_its_image_size_gets_it(zygote):
    config = {"architecture": "vit_tiny_patch16_224", "pretrained_cfg": {"input_size": [3, 224, 224]}}
    result = zygote.capture(config, library="timm")
    assert result["status"] == "full_graph", result["detail"]
    assert result["inputs"]["x"]["shape"] == [2, 3, 224, 224]


@needs_timm
def test_an_unknown_timm_architecture_is_named(zygote):
    result = zygote.capture({"architecture": "no_such_net", "pretrained_cfg": {}}, library="timm")
    assert result["status"] == "failed_create"
    assert "no_such_net" in result["detail"]


@needs_diffusers
def test_a_pipeline_gives_one_result_for_all_its_modules(zygote):
    config = bundle({"unet": UNET, "vae": VAE, "text_encoder": CLIP_TEXT}, unet=["diffusers", "UNet2DConditionModel"],
                    vae=["diffusers", "AutoencoderKL"], text_encoder=["transformers", "CLIPTextModel"])
    result = zygote.capture(config, library="diffusers")
    assert result["status"] == "full_graph", result["detail"]
    assert (result["graphs"], result["breaks"], result["unexplained_events"]) == (3, 0, 0)
    assert result["architecture"] == "TestPipeline"
    assert set(result["inputs"]) == {"unet", "vae", "text_encoder"}
    for words in ("unet: 1 graph", "vae: 1 graph", "text_encoder: 1 graph", "not modules: scheduler, tokenizer"):
        assert words in result["detail"]


@needs_diffusers
def test_a_single_component_is_a_model(zygote):
    result = zygote.capture(VAE, library="diffusers")
    assert (result["status"], result["architecture"]) == ("full_graph", "AutoencoderKL"), result["detail"]


@needs_diffusers
@pytest.mark.parametrize("components, entry, status", [
    ({}, ["diffusers", "AutoencoderKL"], "skipped_no_config"),
    ({"part": {}}, ["my_pipeline", "MyModel"], "skipped_custom_code"),
    ({"part": {}}, ["diffusers", "NoSuchModel"], "failed_create"),
])
def test_a_component_that_cannot_be_captured_gives_the_pipeline_its_status(zygote, components, entry, status):
    result = zygote.capture(bundle({"vae": VAE, **components}, vae=["diffusers", "AutoencoderKL"], part=entry))
    assert result["status"] == status
    assert result["detail"].startswith("part: ") and "vae: 1 graph" in result["detail"]


def test_the_encoder_of_sentence_transformers_is_captured_and_reported(zygote):
    result = zygote.capture(library="sentence-transformers")
    assert result["status"] == "full_graph"
    assert "without pooling" in result["detail"]


@pytest.mark.parametrize("library", ["peft", "gguf", "onnx"])
def test_a_library_without_modules_is_named_as_unsupported(zygote, library):
    result = zygote.capture({"peft_type": "LORA"}, library=library)
    assert result["status"] == "skipped_unsupported_library"
    assert library in result["detail"]


def part(status: str, sites: list, **numbers) -> dict:
    return {"status": status, "detail": "d; more", "depth": "full", "sites": sites, "breaks": len(sites), "graphs": 2,
            **numbers}


def site(site_id: str, path: str, occurrences: int) -> dict:
    return {"site_id": site_id, "reason": site_id, "gb_id": "", "module_path": path, "occurrences": occurrences}


def test_components_are_added_up_and_prefix_module_paths():
    unet = part("graph_breaks", [site("a", "down_blocks.0", 2), site("b", "", 1)])
    text = part("graph_breaks", [site("a", "layers.0", 3)])
    made = pipeline.combine({"unet": unet, "text_encoder": text}, ["scheduler"])
    assert (made["status"], made["breaks"], made["graphs"], made["break_sites"]) == ("graph_breaks", 3, 4, 2)
    assert [(s["module_path"], s["occurrences"]) for s in made["sites"]] == [("unet.down_blocks.0", 5), ("unet", 1)]
    assert made["unique_reasons"] == 2 and made["depth"] == "full"


def test_one_failed_component_fails_the_pipeline():
    made = pipeline.combine({"unet": part("full_graph", []), "vae": {"status": "failed_eager", "detail": "no"}}, [])
    assert made["status"] == "failed_eager"
    assert "vae: no" in made["detail"] and "unet: d" in made["detail"]


def test_heads_are_reduced_together_with_the_widths_that_depend_on_them():
    config = {"num_attention_heads": 8, "attention_head_dim": 4, "caption_projection_dim": 32, "num_layers": 9}
    small, note = next(diffusers_sizes.narrowed(config))
    assert small == {"num_attention_heads": 2, "attention_head_dim": 4, "caption_projection_dim": 8, "num_layers": 9}
    assert note == "num_attention_heads 8->2"


def test_blocks_stay_multiples_of_their_groups():
    config = {"block_out_channels": [320, 640, 1280], "norm_num_groups": 32}
    widths = [small["block_out_channels"] for small, _ in diffusers_sizes.narrowed(config)]
    assert widths == [[32, 64, 128], [64, 128, 256], [160, 320, 640]]


def test_blocks_stay_multiples_of_their_heads():
    config = {"block_out_channels": [320, 640], "num_attention_heads": [5, 10], "norm_num_groups": 32}
    assert [small["block_out_channels"] for small, _ in diffusers_sizes.narrowed(config)] == [[160, 320]]


def test_a_layer_group_of_two_kinds_keeps_one_of_each():
    config, notes = diffusers_sizes.shortened({"num_layers": 24, "dual_attention_layers": list(range(13))})
    assert config == {"num_layers": 2, "dual_attention_layers": [0]}
    assert notes == ["num_layers 24->2"]


def test_a_model_with_its_own_rule_keeps_one_layer_of_each_kind():
    assert diffusers_sizes.shortened({"num_layers": 20, "softmax_every_n": 4})[0]["num_layers"] == 4
    assert diffusers_sizes.shortened({"num_layers": 20, "softmax_every_n": None})[0]["num_layers"] == 2


def test_the_number_of_heads_follows_from_width_and_axes():
    small, note = next(diffusers_sizes.narrowed({"model_dim": 512, "axes_dims": [16, 24, 24], "ff_dim": 2048}))
    assert small == {"model_dim": 128, "axes_dims": [16, 24, 24], "ff_dim": 512}
    assert note == "heads 8->2"


@pytest.mark.parametrize("axes", [[], ["a"], [0]])
def test_axes_without_widths_give_no_number_of_heads(axes):
    assert not list(diffusers_sizes.narrowed({"model_dim": 512, "axes_dims": axes, "ff_dim": 2048}))


def test_the_width_of_all_heads_follows_them_without_a_head_size():
    small, _ = next(diffusers_sizes.narrowed({"n_heads": 8, "n_kv_heads": 8, "dim": 512, "cap_feat_dim": 300}))
    assert small == {"n_heads": 2, "n_kv_heads": 2, "dim": 128, "cap_feat_dim": 300}


def test_text_and_image_tokens_are_distinguished_as_in_the_pipeline():
    class QwenImage21Transformer2DModel:
        def forward(self, hidden_states, img_shapes, img_mask):
            raise NotImplementedError

    made = diffusers_inputs.make(QwenImage21Transformer2DModel(), {"in_channels": 4})
    assert made["img_shapes"] == [[(1, 4, 4)], [(1, 4, 4)]]
    assert made["img_mask"].tolist() == [[False] * 8 + [True] * 4] * 2
    assert list(made["hidden_states"].shape) == [2, 16, 4]


def test_a_list_of_inputs_has_as_many_items_as_the_model_takes():
    class ZImageTransformer2DModel:
        def forward(self, x, t, cap_feats):
            raise NotImplementedError

    made = diffusers_inputs.make(ZImageTransformer2DModel(), {"in_channels": 4, "cap_feat_dim": 6})
    assert [list(sample.shape) for sample in made["x"]] == [[4, 1, 16, 16]] * 2
    assert not made["x"][0].equal(made["x"][1])
