"""The tests mirror the package: every module has a test file in the same folder, or is listed here with its tests.

`intentmatch/slots/clock.py` is tested in `tests/slots/test_clock.py`; words may stand around the module's name, as in
`test_slot_clock.py`, because two test files may not have the same name.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import intentmatch

PACKAGE = Path(intentmatch.__file__).parent
TESTS = Path(__file__).parent
WITHOUT_TESTS = {"__init__", "__main__"}

CONSTANTS = {"core/bot_names.py", "runtime/block_sizes.py"}
"""Modules that hold constants alone."""

TESTED_IN: dict[str, str] = {
    "server/candidates/places.py": "server/routes/authoring/test_candidate.py",
    "server/erasing.py": "cli/test_inbox_erase.py",
    "text/personal_numbers.py": "text/test_redact.py",
    "adaptation/losses.py": "adaptation/test_encoder_training.py",
    "adaptation/recipe.py": "cli/test_adapt_command.py",
    # The network of a static encoder is trained as a whole.
    "distill/context_network.py": "distill/test_distill_context.py",
    "distill/context_recipe.py": "distill/test_distill_context.py",
    "distill/context_training.py": "distill/test_distill_context.py",
    # What commands share and print is tested with the commands.
    "cli/check.py": "cli/test_validate_command.py",
    "cli/distill.py": "cli/test_encoders_command.py",
    "cli/inbox_decisions.py": "cli/test_inbox_command.py",
    "cli/options.py": "cli/test_intents_option.py",
    "cli/render/answer.py": "cli/test_match_command.py",
    "cli/render/comparison.py": "cli/test_diff_command.py",
    "cli/render/evaluation.py": "cli/test_evaluate.py",
    "cli/render/inbox.py": "cli/test_inbox_command.py",
    "cli/render/review.py": "cli/test_review_command.py",
    "cli/render/source.py": "cli/test_source_excerpts.py",
    "cli/origins.py": "cli/test_serve_command.py",
    # Parts of a result or a turn are tested where they are put together.
    "core/relative_paths.py": "server/middleware/test_relative_paths.py",
    "core/setting_values.py": "core/test_settings.py",
    "core/allowed.py": "registry/test_confinement.py",
    "dialogue/coverings.py": "dialogue/test_confirmation.py",
    "dialogue/choosing.py": "dialogue/test_dialogue.py",
    "dialogue/confirming.py": "dialogue/test_confirmation.py",
    "dialogue/filling.py": "dialogue/test_dialogue.py",
    "dialogue/turn_builder.py": "dialogue/test_dialogue.py",
    "dialogue/turn_logic.py": "dialogue/test_dialogue.py",
    "dialogue/turns.py": "dialogue/test_dialogue.py",
    # Parts of one comparison or one report.
    "evaluation/compare/changes.py": "evaluation/compare/test_diff.py",
    "evaluation/compare/paired.py": "evaluation/compare/test_diff.py",
    "evaluation/compare/sides.py": "evaluation/compare/test_gitref.py",
    "evaluation/reports/diff_page.py": "evaluation/compare/test_diff.py",
    "evaluation/reports/html.py": "evaluation/reports/test_evaluation_documents.py",
    "evaluation/reports/junit.py": "evaluation/reports/test_evaluation_documents.py",
    "evaluation/reports/number_format.py": "evaluation/reports/test_evaluation_report.py",
    "evaluation/reports/svg_plots.py": "evaluation/reports/test_evaluation_documents.py",
    "evaluation/runner.py": "evaluation/test_evaluation_run.py",
    "matching/batch.py": "matching/test_matcher.py",
    "matching/denied_parts.py": "matching/test_message_parts.py",
    "matching/parted_message.py": "matching/test_message_parts.py",
    "matching/opinions/server_judge.py": "matching/opinions/test_chat_judge.py",
    "slots/compounding.py": "slots/test_slot_numbers.py",
    "slots/digits.py": "slots/test_slot_numbers.py",
    "languages/measured.py": "cli/test_languages_command.py",
    "languages/files.py": "languages/test_language_tables.py",
    "languages/sections.py": "languages/test_language_tables.py",
    "languages/structure.py": "languages/test_language_tables.py",
    "languages/shapes.py": "languages/test_language_tables.py",
    "slots/number_forms.py": "slots/test_slot_numbers.py",
    "slots/numerals.py": "slots/test_slot_numbers.py",
    "slots/range_words.py": "slots/test_slot_quantities.py",
    "slots/word_patterns.py": "slots/test_slot_quantities.py",
    "reading/networks.py": "reading/test_dialogue_acts.py",
    "reading/resolved_options.py": "matching/test_options_resolver.py",
    # A dialect is tested as a whole, by the contract of a format and by files of its own.
    "formats/hassil/": "formats/test_hassil.py",
    "formats/kit/predictions.py": "formats/kit/test_tables.py",
    "runtime/background.py": "server/bots/test_pool.py",
    "formats/lu/": "formats/test_lu.py",
    "formats/rasa/": "formats/test_rasa_format.py",
    "formats/delimited.py": "formats/kit/test_tables.py",
    "formats/records.py": "formats/kit/test_tables.py",
    "formats/spreadsheet.py": "formats/kit/test_tables.py",
    # Mistakes of authors are data files, each with the message it must give.
    "registry/reading/comma_repairs.py": "registry/reading/test_mistakes.py",
    "languages/country_codes.py": "registry/reading/test_mistakes.py",
    "registry/reading/line_parts.py": "registry/reading/test_mistakes.py",
    "registry/reading/misplaced.py": "registry/reading/test_mistakes.py",
    "registry/reading/repair.py": "registry/reading/test_mistakes.py",
    "registry/reading/sign_repairs.py": "registry/reading/test_mistakes.py",
    "registry/reading/syntax_repairs.py": "registry/reading/test_mistakes.py",
    # What dialects share is tested by the contract of a format, which every dialect runs.
    "formats/dialogflow.py": "formats/test_dialogflow_es.py",
    "formats/kit/archive.py": "formats/kit/test_source.py",
    "formats/kit/by_language.py": "contracts/format.py",
    "formats/kit/foreign_thresholds.py": "formats/test_semantic_router.py",
    "formats/kit/format.py": "contracts/format.py",
    "formats/kit/losses.py": "contracts/format.py",
    "formats/kit/slot_draft.py": "formats/kit/test_draft.py",
    "formats/kit/roles.py": "formats/kit/test_prebuilt.py",
    "formats/kit/slot_mentions.py": "contracts/format.py",
    "formats/kit/unroll.py": "contracts/format.py",
    "formats/kit/yaml_writer.py": "contracts/format.py",
    # What a revision says is compared with others.
    "authoring/past_registries.py": "authoring/test_score_revision.py",
    # Every face of an edit obeys one contract.
    # Proposals become edits; entries are stored by the inbox.
    "inbox/edits.py": "inbox/test_proposals.py",
    "inbox/file_store.py": "inbox/test_inbox.py",
    "inbox/store.py": "inbox/test_inbox.py",
    "inbox/stored_rows.py": "inbox/test_inbox.py",
    # Every index obeys one contract.
    "index/approximate.py": "index/test_index_contract.py",
    "index/device.py": "index/test_index_contract.py",
    # A calibration is a curve and thresholds.
    "learning/confidence_curve.py": "learning/test_calibration.py",
    "learning/threshold_choice.py": "learning/test_calibration.py",
    "learning/trait_heads.py": "learning/test_learning_traits.py",
    # The optimiser is tested by the heads that it finds.
    "learning/lbfgs.py": "learning/test_head.py",
    # Held-out cases leave near-duplicates out.
    "learning/near_duplicates.py": "learning/test_cross_validation.py",
    # What is cached is a training.
    "learning/training_cache.py": "learning/test_training.py",
    "storage/postgres/schema.py": "storage/postgres/test_migrating.py",
    # Rules are tested with files that break them.
    "lint/catalogue.py": "lint/test_lint_run.py",
    "lint/shape.py": "lint/test_lint_rules.py",
    "registry/checks.py": "artefact/test_build.py",
    "artefact/artefact.py": "artefact/test_store.py",
    # A registry is read and edited as a whole, from valid and invalid files in tests/registry/data.
    "registry/editing/folder.py": "registry/editing/test_edits.py",
    "registry/reading/file_content.py": "registry/reading/test_reader.py",
    "registry/reading/grammar.py": "registry/reading/test_reader.py",
    "registry/reading/page.py": "registry/reading/test_reader.py",
    "registry/reading/scope.py": "registry/reading/test_includes.py",
    "registry/reading/slot_grammar.py": "registry/reading/test_reader.py",
    "registry/templates/rules.py": "registry/templates/test_expansion.py",
    # A pool owns its bots and models; the server is tested over HTTP.
    "server/auth/access.py": "server/auth/test_api_keys.py",
    "server/auth/authorisation.py": "server/auth/test_api_keys.py",
    "server/auth/security_schemes.py": "server/auth/test_api_keys.py",
    "server/auth/database_keys.py": "server/test_server_database.py",
    "server/bots/bot.py": "server/bots/test_pool.py",
    "server/bots/bot_loader.py": "server/bots/test_pool.py",
    "server/bots/editing.py": "server/routes/authoring/test_authoring_edits.py",
    "server/bots/followed_files.py": "server/bots/test_reloads.py",
    "server/bots/folder.py": "server/bots/test_pool.py",
    "server/bots/memory.py": "server/bots/test_pool.py",
    "server/bots/pooled_bot.py": "server/bots/test_pool.py",
    "server/candidates/candidate.py": "server/routes/authoring/test_candidate.py",
    "server/candidates/of_bot.py": "server/routes/authoring/test_candidate.py",
    "server/candidates/records.py": "server/candidates/test_file_store.py",
    "server/candidates/running.py": "server/routes/authoring/test_candidate.py",
    "server/candidates/sources.py": "server/routes/authoring/test_candidate.py",
    "server/middleware/request_log.py": "server/process/test_logs.py",
    "server/process/raw_response.py": "server/process/test_connections.py",
    "server/process/slow_clients.py": "server/middleware/test_limits.py",
    "server/process/workers.py": "cli/test_serve_workers.py",
    "server/protocols/host.py": "server/protocols/test_protocols.py",
    "server/protocols/load.py": "server/protocols/test_protocols.py",
    "server/protocols/systemone.py": "server/protocols/test_typed_decisions.py",
    "server/protocols/decisions.py": "server/protocols/test_typed_decisions.py",
    "server/protocols/model_list.py": "server/protocols/test_typed_decisions.py",
    # Routes are tested through the application; the pages without JSON together.
    "server/routes/authoring/common.py": "server/routes/authoring/test_authoring_edits.py",
    "server/stores.py": "cli/test_serve_command.py",
    "server/routes/docs.py": "server/routes/test_pages.py",
    "server/routes/feedback.py": "server/test_server_inbox.py",
    "server/routes/home.py": "server/routes/test_pages.py",
    "server/routes/operations.py": "server/test_server_states.py",
    "server/routes/schemas/": "server/routes/test_server_schemas.py",
    # Screens are tested in a browser; what they share, with them.
    "cli/studio.py": "studio/test_studio_app.py",
    "studio/changes_view.py": "studio/test_studio_screens.py",
    "studio/chart_style.py": "studio/test_studio_insight.py",
    "studio/confusion_view.py": "studio/test_studio_insight.py",
    "studio/conversation.py": "studio/test_studio_screens.py",
    "studio/coverage_view.py": "studio/test_studio_insight.py",
    "studio/cursor.py": "studio/test_studio_insight.py",
    "studio/edit_page.py": "studio/test_studio_screens.py",
    "studio/growth_view.py": "studio/test_studio_insight.py",
    "studio/history_page.py": "studio/test_studio_screens.py",
    "inbox/groups.py": "inbox/test_proposals.py",
    "studio/inbox_card.py": "studio/test_studio_insight.py",
    "studio/inbox_decisions.py": "studio/test_studio_insight.py",
    "studio/inbox_page.py": "studio/test_studio_insight.py",
    "studio/switches.py": "studio/test_studio_screens.py",
    "studio/new_intent.py": "studio/test_studio_screens.py",
    "studio/intent_cards.py": "studio/test_studio_screens.py",
    "studio/issues_page.py": "studio/test_studio_insight.py",
    "studio/layout.py": "studio/test_studio_app.py",
    "studio/map_view.py": "studio/test_studio_insight.py",
    "studio/editable_line.py": "studio/test_studio_screens.py",
    "studio/many_messages.py": "studio/test_studio_screens.py",
    "studio/overlap_view.py": "studio/test_studio_insight.py",
    "studio/remedies.py": "studio/test_studio_insight.py",
    "studio/questions.py": "studio/test_studio_screens.py",
    "studio/plain_pages.py": "studio/test_guard.py",
    "studio/places.py": "studio/test_studio_screens.py",
    "studio/see_page.py": "studio/test_studio_insight.py",
    "studio/try_page.py": "studio/test_studio_screens.py",
    "studio/visit.py": "studio/test_studio_app.py",
    "studio/yaml_editor.py": "studio/test_studio_screens.py",
    "deploy/cluster_file.py": "deploy/test_cluster_config.py",
    "deploy/config_section.py": "deploy/test_cluster_config.py",
    "deploy/config_values.py": "deploy/test_cluster_config.py",
    # A frozen program is tested as a whole, with PyInstaller.
    "deploy/frozen/hook-intentmatch.py": "integrations/test_pyinstaller.py",
    # A cluster is tested as a whole, with Ray.
    "deploy/ray/application.py": "integrations/test_ray.py",
    "deploy/ray/engine.py": "integrations/test_ray.py",
    "deploy/ray/rollout.py": "integrations/test_ray.py",
    # Finders whose messages and values stand in data files.
    "slots/moment_ranges.py": "slots/test_slot_values.py",
    "slots/money.py": "slots/test_slot_values.py",
    "slots/ordinals.py": "slots/test_slot_values.py",
    "slots/phones.py": "slots/test_slot_values.py",
    "slots/relative_days.py": "slots/test_slot_values.py",
    "slots/temperatures.py": "slots/test_slot_values.py",
    # Words of a message and numbers in words are tested through what is read from them.
    "slots/message.py": "slots/test_slot_reader.py",
    "slots/neighbours.py": "slots/test_slot_reader.py",
    "slots/number_words.py": "slots/test_slot_numbers.py",
}
"""Modules, or folders of modules, without a test file of their own, and the file that tests them."""

MODULES = [
    path.relative_to(PACKAGE).as_posix() for path in sorted(PACKAGE.rglob("*.py")) if path.stem not in WITHOUT_TESTS
]


def names_module(file: Path, stem: str) -> bool:
    """Whether the name of a test file has the words of a module's name."""
    return re.fullmatch(rf"test_(\w+_)?{re.escape(stem)}(_\w+)?", file.stem) is not None


def own_test_files(module: str) -> list[Path]:
    """The files in the folder of the same name whose name contains the module's, and no longer one around it."""
    path = Path(module)
    longer = [other.stem for other in (PACKAGE / path.parent).glob("*.py") if len(other.stem) > len(path.stem)]
    around = [stem for stem in longer if path.stem in stem.split("_")]
    return [
        file
        for file in (TESTS / path.parent).glob("test_*.py")
        if names_module(file, path.stem) and not any(names_module(file, stem) for stem in around)
    ]


def is_listed(module: str) -> bool:
    return module in CONSTANTS or any(module == key or (key[-1] == "/" and module.startswith(key)) for key in TESTED_IN)


def test_every_module_has_a_test_file_or_is_listed():
    assert [module for module in MODULES if not own_test_files(module) and not is_listed(module)] == []


def test_listed_modules_exist_and_have_no_test_file():
    """Otherwise the entry can go."""
    listed = [*sorted(CONSTANTS), *TESTED_IN]

    assert [one for one in listed if not (PACKAGE / one).exists()] == []
    assert [one for one in listed if not one.endswith("/") and own_test_files(one)] == []


def test_listed_test_files_exist():
    assert [file for file in sorted(set(TESTED_IN.values())) if not (TESTS / file).is_file()] == []


def test_no_two_test_files_have_one_name():
    """Pytest collects neither of them then, if it collects both folders."""
    names = Counter(file.name for file in TESTS.rglob("test_*.py"))

    assert [name for name, count in names.items() if count > 1] == []
