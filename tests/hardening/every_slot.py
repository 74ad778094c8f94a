"""A registry whose first intent has slots of every kind."""

from __future__ import annotations

YAML = """\
intents:
  everything:
    slots:
      size:
        values:
          small: [klein, petit, küçük, 小]
          medium: [mittel, moyen, orta, 中]
          large: [groß, grand, büyük, 大]
      city:
        values: [Berlin, İstanbul, Paris, 北京, Москва, القاهرة, New York]
      code: {pattern: "[A-Z]{2}-\\\\d+"}
      note: {type: any}
      a_number: {type: number, required: true, ask: How many?}
      a_ordinal: {type: ordinal}
      a_time: {type: time}
      a_date: {type: date}
      a_datetime: {type: datetime}
      a_duration: {type: duration}
      a_money: {type: money}
      a_temperature: {type: temperature}
      a_email: {type: email}
      a_phone: {type: phone}
      a_url: {type: url}
    utterances:
      en:
        - book {size} for {a_number} people in {city}
        - from {a_date} to {a_datetime} at {a_time}
        - pay {a_money} for {a_duration}
        - tell {a_email} that {note}
        - remind me to {note} at {a_time}
        - reserve a table
      de:
        - nach {city} am {a_date} um {a_time}
        - sag {a_email} dass {note}
  other:
    utterances:
      en: [what a lovely day, hello]
"""
