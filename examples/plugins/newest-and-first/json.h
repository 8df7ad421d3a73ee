/* Reads JSON in place: a value is the piece of text it was written as, and nothing is copied. The
   host hands over JSON that is whole and well formed, so nothing is checked but the end of the text. */
#ifndef JSON_H
#define JSON_H

typedef struct {
  const char *at;
  const char *end;
} Text;

static const Text NONE = {0, 0};

static Text skip_space(Text text) {
  while (text.at < text.end && (*text.at == ' ' || *text.at == '\n' || *text.at == '\r' || *text.at == '\t')) text.at++;
  return text;
}

/* Where the string that begins at `at` ends, after its closing quotation mark. */
static const char *after_string(const char *at, const char *end) {
  for (at++; at < end && *at != '"'; at++)
    if (*at == '\\') at++;
  return at < end ? at + 1 : end;
}

/* The value at the beginning of a text, without what comes after it. */
static Text value(Text text) {
  text = skip_space(text);
  const char *at = text.at;
  int depth = 0;
  while (at < text.end) {
    char c = *at;
    if (depth == 0 && (c == ',' || c == '}' || c == ']' || c == ':' || c == ' ' || c == '\n')) break;
    if (c == '"') {
      at = after_string(at, text.end);
    } else {
      if (c == '{' || c == '[') depth++;
      if (c == '}' || c == ']') depth--;
      at++;
    }
    if (depth == 0 && (c == '"' || c == '}' || c == ']')) break;
  }
  return (Text){text.at, at};
}

/* The first item of a list or object; NONE if it is neither, or empty. */
static Text first_item(Text list) {
  list = skip_space(list);
  if (list.at >= list.end || (*list.at != '[' && *list.at != '{')) return NONE;
  Text rest = skip_space((Text){list.at + 1, list.end - 1});
  return rest.at < rest.end ? rest : NONE;
}

/* What follows the separator after `item`, within the rest of the same list; NONE after the last. */
static Text next_item(Text rest, Text item) {
  rest = skip_space((Text){item.end, rest.end});
  if (rest.at >= rest.end) return NONE;
  rest = skip_space((Text){rest.at + 1, rest.end});
  return rest.at < rest.end ? rest : NONE;
}

static int is(Text text, const char *word) {
  while (text.at < text.end && *word && *text.at == *word) text.at++, word++;
  return text.at == text.end && *word == 0;
}

/* The field of an object whose name, with its quotation marks, is `name`; NONE if it has none. */
static Text field(Text object, const char *name) {
  for (Text rest = first_item(object); rest.at;) {
    Text key = value(rest);
    rest = next_item(rest, key);
    if (!rest.at) return NONE;
    Text found = value(rest);
    if (is(key, name)) return found;
    rest = next_item(rest, found);
  }
  return NONE;
}

/* A whole number; `otherwise` if it is none. */
static unsigned number(Text text, unsigned otherwise) {
  unsigned found = 0;
  if (text.at == text.end) return otherwise;
  for (; text.at < text.end; text.at++) {
    if (*text.at < '0' || *text.at > '9' || found > 400000000) return otherwise;
    found = found * 10 + (unsigned)(*text.at - '0');
  }
  return found;
}

/* What stands between the quotation marks, with its escapes: it can be written into another string as it is. */
static Text inside(Text string) {
  return string.end - string.at >= 2 && *string.at == '"' ? (Text){string.at + 1, string.end - 1} : NONE;
}

/* The beginning of such a text, at most `most` bytes, cut neither in a character nor in an escape. */
static Text beginning(Text text, unsigned most) {
  const char *at = text.at, *cut = text.at;
  while (at < text.end) {
    if (*at == '\\') {
      at += at[1] == 'u' ? 6 : 2;
    } else {
      at++;
      while (at < text.end && (*at & 0xc0) == 0x80) at++;
    }
    if (at > text.end || (unsigned)(at - text.at) > most) break;
    cut = at;
  }
  return (Text){text.at, cut};
}

#endif
