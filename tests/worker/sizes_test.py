"""The size policy: what is reduced, and what must not change."""

import copy

import pytest
import transformers
from breakwatch_worker.model import depths, images, sizes


def plans(config, depth="reduced"):
    return list(sizes.plans(config, depth))


def smallest(config, depth="reduced"):
    plan = plans(config, depth)[0]
    return plan, plan.make(type(config))


def test_a_plain_layer_group_keeps_its_first_and_last_layer():
    plan, config = smallest(transformers.BertConfig())
    assert (plan.depth, config.num_hidden_layers) == ("reduced", 2)
    assert config.hidden_size == 768  # no wider than the floor: unchanged
    assert config.vocab_size == 1024


def test_every_kind_of_layer_is_kept():
    config = transformers.Qwen3NextConfig(num_hidden_layers=12)
    kinds = set(config.layer_types)
    assert len(kinds) > 1
    _, small = smallest(config)
    assert set(small.layer_types) == kinds
    assert len(small.layer_types) == small.num_hidden_layers < 12


def test_dense_layers_before_experts_stay_before_them():
    _, small = smallest(transformers.DeepseekV3Config(num_hidden_layers=20, first_k_dense_replace=3))
    assert small.first_k_dense_replace == 1 and small.num_hidden_layers >= 2
    assert small.n_routed_experts == 8 and small.num_experts_per_tok == 2
    assert small.n_routed_experts % small.n_group == 0 and small.topk_group <= small.n_group


def test_index_lists_follow_the_layers_that_are_kept():
    config = transformers.MllamaConfig().text_config
    _, small = smallest(config)
    assert small.cross_attention_layers
    assert all(index < small.num_hidden_layers for index in small.cross_attention_layers)
    assert len(small.cross_attention_layers) < small.num_hidden_layers


def test_widths_keep_heads_groups_and_equalities():
    text = {"model_type": "llama", "hidden_size": 4096, "num_key_value_heads": 8}
    config = transformers.LlavaConfig(text_config=text)
    before, text = config.text_config, smallest(config)[1].text_config
    assert text.hidden_size < before.hidden_size
    assert text.hidden_size // text.num_attention_heads == before.hidden_size // before.num_attention_heads
    assert text.num_attention_heads > text.num_key_value_heads > 1
    assert text.num_attention_heads % text.num_key_value_heads == 0
    # One head of a size rotary positions were made for stays one: the size of a head is never touched.
    assert text.head_dim == before.head_dim


def test_token_ids_outside_the_reduced_vocabulary_move_into_it_and_stay_equal_or_different():
    config = transformers.Qwen2VLConfig()
    _, small = smallest(config)
    ids = (small.image_token_id, small.video_token_id, small.vision_start_token_id)
    assert all(0 <= token < 1024 for token in ids) and len(set(ids)) == 3


def test_stages_keep_two_blocks_each():
    _, small = smallest(transformers.SwinConfig(depths=[2, 2, 18, 2]))
    assert small.depths == [2, 2, 2, 2]


def test_hidden_states_used_by_number_still_exist():
    config = transformers.BeitConfig(out_indices=[3, 5, 7, 11])
    _, small = smallest(config)
    assert len(small.out_indices) == 4
    assert max(small.out_indices) <= small.num_hidden_layers < 12


def test_full_depth_is_full_and_still_narrow():
    plan, config = smallest(transformers.LlamaConfig(), "full")
    assert (plan.depth, config.num_hidden_layers) == ("full", 32)
    assert config.hidden_size < 4096


def test_the_last_plan_is_the_original():
    original = transformers.LlamaConfig()
    last = plans(original)[-1]
    assert last.depth == "original"
    assert last.make(type(original)).to_dict() == original.to_dict()


def test_a_config_that_cannot_be_reduced_is_original():
    tiny = transformers.BertConfig(num_hidden_layers=2, vocab_size=99)
    assert [plan.depth for plan in plans(tiny)] == ["original"]


@pytest.mark.parametrize("name", ["LlamaConfig", "BertConfig", "T5Config", "ViTConfig", "WhisperConfig", "CLIPConfig"])
def test_making_sizes_does_not_change_the_config(name):
    config = getattr(transformers, name)()
    before = config.to_dict()
    for plan in plans(config):
        plan.make(type(config))
    assert config.to_dict() == before


def test_a_pattern_given_once_is_kept_complete():
    config = transformers.RecurrentGemmaConfig(num_hidden_layers=8, block_types=["recurrent", "recurrent", "attention"])
    small = next(iter(sizes.plans(config, "reduced"))).make(type(config))
    assert small.layers_block_type[:3] == config.layers_block_type[:3] and small.num_hidden_layers == 4


def test_a_width_under_two_keys_is_divided_twice():
    config = transformers.xLSTMConfig()
    assert config.embedding_dim == config.hidden_size
    small = smallest(config)[1]
    assert small.embedding_dim == small.hidden_size < config.hidden_size


def test_an_inner_width_is_rounded_if_it_does_not_divide():
    config = transformers.LlamaConfig(hidden_size=4096, intermediate_size=11007, num_attention_heads=32)
    small = next(iter(sizes.plans(config, "full"))).make(type(config))
    assert small.hidden_size < 4096 and small.intermediate_size % 8 == 0


def test_only_the_text_is_divided_without_a_common_divisor():
    config = transformers.LlavaConfig(
        text_config={"model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32, "num_key_value_heads": 2},
        vision_config={"model_type": "clip_vision_model", "hidden_size": 1037, "num_attention_heads": 17})
    small = next(iter(sizes.plans(config, "full"))).make(type(config))
    assert small.vision_config.hidden_size == 1037 and small.text_config.hidden_size < 4096
    assert small.text_config.num_attention_heads > small.text_config.num_key_value_heads == 2


def test_layers_named_beside_the_vision_part_are_kept_in_it():
    config = transformers.LlavaConfig(vision_feature_layer=[-2, 9], vision_config={
        "model_type": "clip_vision_model", "num_hidden_layers": 24}, text_config={"model_type": "llama"})
    small = next(iter(sizes.plans(config, "reduced"))).make(type(config))
    assert max(small.vision_feature_layer) <= small.vision_config.num_hidden_layers < 24


def test_each_part_is_divided_by_its_own_divisor_if_that_of_the_text_is_larger():
    config = transformers.Qwen2VLConfig(
        text_config={"hidden_size": 3584, "num_attention_heads": 28, "num_key_value_heads": 4},
        vision_config={"embed_dim": 1280, "hidden_size": 3584, "num_heads": 16})
    config.vision_config.out_hidden_size = 3584
    small = next(iter(sizes.plans(config, "full"))).make(type(config))
    assert 3584 // small.text_config.hidden_size == 7
    assert small.vision_config.out_hidden_size == small.text_config.hidden_size  # what speaks of the text follows it
    assert small.vision_config.embed_dim < 1280 and 1280 % small.vision_config.embed_dim == 0


def test_a_spectrogram_is_cut_to_a_divisor_and_keeps_several_windows():
    small = smallest(transformers.WhisperConfig())[1]
    assert small.max_source_positions < 1500 and 1500 % small.max_source_positions == 0
    windows = smallest(transformers.Qwen2_5OmniThinkerConfig())[1].audio_config
    assert windows.max_source_positions % windows.n_window == 0
    assert windows.max_source_positions >= 3 * windows.n_window


def test_the_length_of_a_generated_spectrogram_is_kept():
    config = transformers.FastSpeech2ConformerConfig()
    assert smallest(config)[1].max_source_positions == config.max_source_positions


def test_a_long_series_is_cut_to_whole_patches_and_a_short_one_is_not():
    config = transformers.TimesFm2_5Config()
    small = smallest(config)[1]
    assert small.context_length < config.context_length and small.context_length % small.patch_length == 0
    assert smallest(transformers.PatchTSTConfig())[1].context_length == transformers.PatchTSTConfig().context_length


def test_windows_that_are_images_of_parts_follow_them():
    config = transformers.DepthProConfig()
    small = smallest(config)[1]
    parts = (small.image_model_config, small.patch_model_config, small.fov_model_config)
    assert {part.image_size for part in parts} == {small.patch_size} and small.patch_size < config.patch_size


def test_a_network_given_by_name_gets_a_depth_argument():
    config = transformers.PeVideoEncoderConfig()
    plan, small = smallest(config)
    assert small.vision_config.model_args["depth"] == 2 and "model_args.depth" in plan.note
    assert "depth" not in (smallest(config, "full")[1].vision_config.model_args or {})
    other = transformers.LlavaConfig(vision_config={"model_type": "timm_wrapper", "architecture": "resnet50"},
                                     text_config={"model_type": "llama"})
    assert "depth" not in (smallest(other)[1].vision_config.model_args or {})


def test_the_crop_size_without_a_clip_is_kept():
    vision = smallest(transformers.Phi4MultimodalConfig())[1].vision_config
    assert vision.crop_size == transformers.Phi4MultimodalConfig().vision_config.crop_size
    clip = transformers.VJEPA2Config()
    assert smallest(clip)[1].crop_size < clip.crop_size


def test_an_even_grid_of_patches_stays_even():
    for image, patch in ((364, 14), (336, 14), (1024, 16), (448, 14)):
        small = smallest(transformers.SiglipVisionConfig(image_size=image, patch_size=patch))[1]
        assert small.image_size // patch % 2 == 0 and small.image_size % patch == 0
    assert small.image_size < 448


def test_a_bound_width_follows_a_part_only_if_it_equals_its_width():
    config = transformers.GlmImageConfig()
    assert config.vq_config.latent_channels == config.vision_config.hidden_size
    small = smallest(config)[1]
    assert small.vq_config.latent_channels == small.vision_config.hidden_size < config.vision_config.hidden_size
    other = transformers.ChameleonConfig()
    assert smallest(other)[1].vq_config.latent_channels == other.vq_config.latent_channels


def test_layers_whose_output_is_named_beside_their_part_are_kept():
    config = transformers.DepthProConfig()
    small = smallest(config)[1]
    layers = small.patch_model_config.num_hidden_layers
    assert max(small.intermediate_hook_ids) < layers < config.patch_model_config.num_hidden_layers
    assert len(set(small.intermediate_hook_ids)) == len(config.intermediate_hook_ids)


def test_layers_given_only_by_a_list_are_cut_like_others():
    kinds = ["linear_attention", "mlp"] * 8 + ["full_attention", "mlp"]
    _, small = smallest(transformers.NemotronHConfig(layers_block_type=kinds))
    assert set(small.layers_block_type) == set(kinds)
    assert small.num_hidden_layers == len(small.layers_block_type) < len(kinds)


def test_the_output_of_a_part_has_the_width_of_the_divided_text():
    text = {"hidden_size": 3584, "intermediate_size": 18944, "num_attention_heads": 28, "num_key_value_heads": 4}
    vision = {"embed_dim": 1280, "hidden_size": 3584, "num_heads": 16}
    config = transformers.Qwen2VLConfig(text_config=text, vision_config=vision)
    plan, small = smallest(config)
    assert "widths of text_config" in plan.note
    assert small.vision_config.hidden_size == small.text_config.hidden_size < 3584


def test_both_widths_of_a_projector_follow_their_neighbours():
    _, small = smallest(transformers.Llama4Config(vision_config={"hidden_size": 1408, "vision_output_dim": 4096}))
    vision = small.vision_config
    assert vision.projector_output_dim == vision.vision_output_dim < 4096


def test_a_vocabulary_with_named_tokens_keeps_its_ids():
    named = {"<image>": 8711, "IMGIMGAZ": 9000}
    _, small = smallest(transformers.ChameleonConfig(vocab_size=65536, vocabulary_map=named))
    assert small.vocab_size == 65536 and small.vocabulary_map == named
    _, small = smallest(transformers.ChameleonConfig(vocab_size=65536, vocabulary_map={"<image>": 8}))
    assert small.vocab_size == 1024


def test_an_image_stays_at_least_one_window_of_the_last_stage():
    _, small = smallest(transformers.DonutSwinConfig(image_size=[2560, 1920], window_size=10))
    assert small.image_size == [512, 384]
    assert min(small.image_size) >= small.patch_size * 2 ** (len(small.depths) - 1) * small.window_size


def test_full_depth_of_some_groups_leaves_only_their_keys_uncut():
    config = transformers.Qwen2VLConfig()
    assert sizes.cuts(config) == ["text_config.num_hidden_layers", "vision_config.depth"]
    plan = next(sizes.plans(config, "full", {"vision_config.depth"}))
    small = plan.make(type(config))
    assert (plan.depth, small.vision_config.depth) == ("full", config.vision_config.depth)
    assert small.text_config.num_hidden_layers == 2
    every = next(sizes.plans(config, "full")).make(type(config))
    assert every.text_config.num_hidden_layers == config.text_config.num_hidden_layers


def test_the_depth_keys_of_a_group_are_found_by_building_the_model():
    cls, config = transformers.Qwen2VLModel, transformers.Qwen2VLConfig()
    assert depths.keys_of(cls, config, ["visual.blocks.*"]) == {"vision_config.depth"}
    assert depths.keys_of(cls, config, ["visual.merger"]) == frozenset()
    assert depths.keys_of(cls, config, ["visual.blocks.*", "language_model.layers.*"]) is None


def test_a_model_with_one_depth_key_or_that_cannot_be_built_is_not_cut():
    assert depths.keys_of(transformers.BertModel, transformers.BertConfig(), ["encoder.layer.*"]) is None
    broken = transformers.Qwen2VLConfig(text_config={"num_attention_heads": 7})
    assert depths.keys_of(transformers.Qwen2VLModel, broken, ["visual.blocks.*"]) is None


def test_feature_maps_of_an_image_follow_it():
    _, small = smallest(transformers.Sam2Config())
    assert small.vision_config.backbone_config.image_size == [256, 256]
    assert small.vision_config.backbone_feature_sizes == [[64, 64], [32, 32], [16, 16]]


def test_an_image_size_in_two_nodes_is_reduced_in_both():
    _, small = smallest(transformers.Sam3VideoConfig())
    tracker = small.tracker_config
    assert tracker.vision_config.backbone_config.image_size == tracker.image_size == 252
    assert tracker.vision_config.backbone_feature_sizes == [[72, 72], [36, 36], [18, 18]]


@pytest.mark.parametrize("side", [0, -1, None, "a"])
def test_an_image_size_that_is_not_a_side_is_kept(side):
    base = {"image_size": side, "vision_config": {"image_size": side, "patch_size": 16}}
    tree = copy.deepcopy(base)
    assert images.match_images(base, tree) == [] and tree == base


def test_a_clip_is_cut_to_the_frames_that_its_tubelets_need():
    _, small = smallest(transformers.VivitConfig())
    assert (small.num_frames, small.tubelet_size) == (8, [2, 16, 16])


@pytest.mark.parametrize("maps", [None, [], 5, [5], [[7, 7]], [["a"]], [[]]])
def test_feature_maps_of_another_size_are_kept(maps):
    base = {"backbone_feature_sizes": maps, "image_size": 1024}
    tree = {**base, "image_size": 256}
    images.shrink_maps(base, tree)
    assert tree["backbone_feature_sizes"] == maps


def test_a_part_that_rejects_common_keys_is_made_without_them():
    class Strict(dict):
        @classmethod
        def from_dict(cls, values):
            if "ffn_config" not in values:
                raise ValueError("something else")
            if "output_attentions" in values["ffn_config"]:
                raise ValueError("Found unknown kwargs={'_name_or_path': '', 'output_attentions': False}")
            return cls(values)

    part = {"ffn_hidden_size": 8, "output_attentions": False}
    made = sizes.Size("reduced", "", {"output_attentions": False, "ffn_config": part}).make(Strict)
    assert made == {"output_attentions": False, "ffn_config": {"ffn_hidden_size": 8}}
    with pytest.raises(ValueError):
        sizes.Size("reduced", "", {"output_attentions": False}).make(Strict)
