"""Google's own client of Dialogflow ES, over REST."""

from __future__ import annotations

import sys
from importlib.metadata import version
from urllib.parse import urlsplit

from google.api_core.exceptions import BadRequest, Unauthorized
from google.auth.api_key import Credentials
from google.cloud import dialogflow_v2 as dialogflow
from google.cloud.dialogflow_v2.services.sessions.transports import SessionsRestTransport


def main(url: str, key: str) -> None:
    host = urlsplit(url).netloc

    def client(credentials: Credentials) -> dialogflow.SessionsClient:
        transport = SessionsRestTransport(host=host, url_scheme="http", credentials=credentials)
        return dialogflow.SessionsClient(transport=transport)

    def ask(session: str, text: str, sessions: dialogflow.SessionsClient) -> dialogflow.DetectIntentResponse:
        query = dialogflow.QueryInput(text=dialogflow.TextInput(text=text, language_code="en"))
        return sessions.detect_intent(request={"session": session, "query_input": query})

    sessions = client(Credentials(key))
    for session in (
        sessions.session_path("shop", "1"),
        "projects/shop/locations/global/agent/environments/draft/users/-/sessions/1",
    ):
        result = ask(session, "where is my order now", sessions).query_result
        assert (result.intent.display_name, result.action) == ("order_status", "order.status")
        assert result.fulfillment_text == result.fulfillment_messages[0].text.text[0] == "I can look that up."
        assert 0 < result.intent_detection_confidence <= 1
        assert result.all_required_params_present
        result = ask(session, "the price of tea in China", sessions).query_result
        assert (result.intent.is_fallback, result.intent_detection_confidence) == (True, 1)
    session = sessions.session_path("shop", "2")
    asked = ask(session, "where is my order now", sessions).query_result
    assert [(context.name, context.lifespan_count) for context in asked.output_contexts] == [
        (f"{session}/contexts/asked", 1)
    ]
    thanks = ask(session, "that helps me", sessions).query_result
    assert (thanks.intent.display_name, list(thanks.output_contexts)) == ("thanks", [])
    texts = [ask(session, "that helps me", sessions).query_result.fulfillment_text for _ in range(2)]
    assert texts == ["Sorry?", "Pardon?"], texts
    response = ask(session, "a train to Berlin please", sessions)
    result = response.query_result
    assert (result.fulfillment_text, result.webhook_source) == ("The 10:04.", "timetable"), response
    assert result.webhook_payload["seats"] == 2
    try:
        ask(session, "", sessions)
        raise AssertionError("it was not refused")
    except BadRequest as error:
        assert "Input text not set" in error.message
    try:
        ask(session, "hello", client(Credentials("wrong")))
        raise AssertionError("it was not refused")
    except Unauthorized as error:
        assert "invalid authentication" in error.message
    name = "google-cloud-dialogflow"
    print(f"{name} {version(name)}: sessions with contexts, environments, fallback, webhook, empty text, a wrong key")


main(*sys.argv[1:])
