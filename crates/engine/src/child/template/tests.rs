#![allow(clippy::unwrap_used, clippy::expect_used)]
use super::*;

const CHATML: &str = "{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}{{ '<|im_start|>system\nDefault<|im_end|>\n' }}{% endif %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}";
/// Like Mistral's and Gemma's: one optional system message in front, then strict turns.
const STRICT: &str = "{{ bos_token }}{%- if messages[0].role == 'system' %}[S]{{ messages[0].content | trim }}[/S]{% set rest = messages[1:] %}{% else %}{% set rest = messages %}{% endif %}{% for m in rest %}{% if m.role not in ['user', 'assistant'] or (m.role == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('roles must alternate user/assistant') }}{% endif %}[{{ m.role }}]{{ m.content.strip() }}{% endfor %}";
const NO_SYSTEM: &str = "{% for m in messages %}{% if m.role == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}[{{ m.role }}]{{ m.content }}{% endfor %}";
const DROPS: &str = "{% for m in messages %}{% if m.role == 'user' %}U:{{ m.content }}\n{% elif m.role == 'assistant' %}A:{{ m.content }}\n{% elif loop.first %}S:{{ m.content }}\n{% endif %}{% endfor %}";

fn message(role: &str, content: &str) -> ChatMessage {
    ChatMessage { role: role.to_owned(), content: content.to_owned() }
}

fn render(source: &str, messages: &[ChatMessage]) -> Result<String, TemplateError> {
    ChatTemplate::new(source.to_owned(), "<s>".to_owned(), "</s>".to_owned())?.render(messages, &serde_json::Map::new())
}

#[test]
fn chatml_keeps_a_late_system_message_in_its_place() {
    let text = render(CHATML, &[message("system", "Calm."), message("user", "Hi"), message("system", "Stay calm.")]).unwrap();
    assert_eq!(
        text,
        "<|im_start|>system\nCalm.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>system\nStay calm.<|im_end|>\n<|im_start|>assistant\n"
    );
}

#[test]
fn a_refused_late_system_message_goes_into_the_user_message_before_it() {
    let messages = [message("system", "Calm."), message("user", "Hi"), message("system", "Stay calm.")];
    assert_eq!(render(STRICT, &messages).unwrap(), "<s>[S]Calm.[/S][user]Hi\n\nStay calm.");
}

#[test]
fn a_late_system_message_after_an_assistant_goes_into_the_user_message_after_it() {
    let messages =
        [message("user", "Hi"), message("assistant", "Yes?"), message("system", "Stay calm."), message("user", "Well")];
    assert_eq!(render(STRICT, &messages).unwrap(), "<s>[user]Hi[assistant]Yes?[user]Stay calm.\n\nWell");
}

#[test]
fn a_silently_dropped_system_message_is_folded_too() {
    let messages = [message("system", "Calm."), message("user", "Hi"), message("system", "Stay calm.")];
    assert_eq!(render(DROPS, &messages).unwrap(), "S:Calm.\nU:Hi\n\nStay calm.\n");
}

#[test]
fn a_template_without_system_role_gets_the_persona_in_the_first_user_message() {
    let messages = [message("system", "Calm."), message("user", "Hi"), message("assistant", "Yes?"), message("user", "So")];
    assert_eq!(render(NO_SYSTEM, &messages).unwrap(), "[user]Calm.\n\nHi[assistant]Yes?[user]So");
}

#[test]
fn a_real_refusal_keeps_the_templates_own_words() {
    let error = render(STRICT, &[message("user", "a"), message("user", "b")]).unwrap_err();
    assert!(error.to_string().contains("roles must alternate"), "{error}");
}

#[test]
fn broken_jinja_is_found_when_the_model_is_loaded() {
    let error = ChatTemplate::new("{% for %}".to_owned(), String::new(), String::new()).err().unwrap();
    assert!(matches!(error, TemplateError::Broken(_)), "{error}");
}

#[test]
fn a_template_that_never_ends_is_stopped() {
    let source =
        "{% for a in range(99999) %}{% for b in range(99999) %}{% for c in range(99999) %}x{% endfor %}{% endfor %}{% endfor %}";
    assert!(matches!(render(source, &[message("user", "a")]), Err(TemplateError::Refused(_))));
}

#[test]
fn json_has_pythons_separators_and_nothing_is_escaped_as_html() {
    let source = "{{ messages[0] | tojson }}|{{ [1, 2] | tojson(indent=2) }}";
    assert_eq!(
        render(source, &[message("user", "<é> & 'x'")]).unwrap(),
        "{\"role\": \"user\", \"content\": \"<é> & 'x'\"}|[\n  1,\n  2\n]"
    );
}

#[test]
fn dates_work_and_an_unknown_form_is_an_error_not_a_panic() {
    assert_eq!(render("{{ strftime_now('%Y') | length }}", &[]).unwrap(), "4");
    assert!(render("{{ strftime_now('%Q%!') }}", &[]).is_err());
}

#[test]
fn loop_controls_namespaces_and_python_methods_work() {
    let source = "{% set ns = namespace(n=0) %}{% for m in messages %}{% if m.content.startswith('x') %}{% continue %}{% endif %}{% set ns.n = ns.n + 1 %}{% endfor %}{{ ns.n }}{{ 'a,b'.split(',')[-1] }}";
    assert_eq!(render(source, &[message("user", "x"), message("user", "y")]).unwrap(), "1b");
}
