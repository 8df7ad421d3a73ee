/* A strategy for Evenkeel: the newest exchanges, and how the conversation began.

   The history that is sent has to be the end of the conversation, so what was said first is told as
   memory once it has left. Built by ./build; the interface is described in docs/plugins.md. */
#include "json.h"

#define EXPORT(name) __attribute__((export_name(name)))
#define ABI 1
#define QUOTE_BYTES 600
/* When the history is over its budget it is cut to this part of it, so that it then grows for a
   while without losing its beginning: that keeps the model's prompt cache useful. */
#define KEEP_PERCENT 60

/* Memory is handed out upwards from where the data ends and never given back: an instance serves one call. */
extern unsigned char __heap_base;
static char *next_free = (char *)&__heap_base;

static char *take(unsigned bytes) {
  unsigned long has = __builtin_wasm_memory_size(0) << 16, from = (unsigned long)next_free;
  if (bytes > has - from && __builtin_wasm_memory_grow(0, (bytes >> 16) + 1) == (unsigned long)-1) return 0;
  next_free += bytes;
  return (char *)from;
}

/* The answer: written from `answer` on. The pieces of a quotation are limited, so this is room enough. */
#define ANSWER_BYTES 65000
static char answer[ANSWER_BYTES];
static unsigned written;

static void put_text(Text text) {
  while (text.at < text.end && written < ANSWER_BYTES) answer[written++] = *text.at++;
}

static void put(const char *text) {
  while (*text && written < ANSWER_BYTES) answer[written++] = *text++;
}

static void put_number(unsigned number) {
  if (number >= 10) put_number(number / 10);
  if (written < ANSWER_BYTES) answer[written++] = (char)('0' + number % 10);
}

/* The place of the answer, as the interface packs it: pointer in the upper half, length in the lower. */
static long long done(void) { return (long long)(unsigned long)answer << 32 | written; }

static unsigned quote_bytes(Text input) {
  unsigned bytes = number(field(field(input, "\"config\""), "\"quoteBytes\""), QUOTE_BYTES);
  return bytes < 40 ? 40 : bytes > 4000 ? 4000 : bytes;
}

/* The text of the first message with this role in an exchange. */
static Text said_by(Text exchange, const char *role) {
  for (Text rest = first_item(field(exchange, "\"messages\"")); rest.at;) {
    Text message = value(rest);
    if (is(field(message, "\"role\""), role)) return inside(field(message, "\"content\""));
    rest = next_item(rest, message);
  }
  return NONE;
}

/* How many exchanges there are, and the tokens of all of them. */
static unsigned count(Text exchanges, unsigned *tokens) {
  unsigned found = 0;
  for (Text rest = first_item(exchanges); rest.at; found++) {
    Text exchange = value(rest);
    *tokens += number(field(exchange, "\"tokens\""), 0);
    rest = next_item(rest, exchange);
  }
  return found;
}

/* How many of the oldest exchanges have to go for the others to have at most `most` tokens. */
static unsigned leaving(Text exchanges, unsigned tokens, unsigned most) {
  unsigned gone = 0;
  for (Text rest = first_item(exchanges); rest.at && tokens > most; gone++) {
    Text exchange = value(rest);
    tokens -= number(field(exchange, "\"tokens\""), 0);
    rest = next_item(rest, exchange);
  }
  return gone;
}

EXPORT("ek_abi") int ek_abi(void) { return ABI; }

EXPORT("ek_alloc") char *ek_alloc(unsigned bytes) { return take(bytes); }

EXPORT("ek_compose") long long ek_compose(const char *json, unsigned length) {
  Text input = {json, json + length}, exchanges = field(input, "\"exchanges\"");
  unsigned budget = number(field(input, "\"maxHistoryTokens\""), 0), room = number(field(input, "\"room\""), 0);
  if (room < budget) budget = room;
  unsigned tokens = 0, all = count(exchanges, &tokens), earlier = number(field(input, "\"earlier\""), 0);

  /* The beginning: the first exchange itself while it is among those loaded, else what was noted of it. */
  Text first = value(first_item(exchanges)), noted = field(input, "\"state\"");
  unsigned most = quote_bytes(input);
  Text user = earlier ? inside(field(noted, "\"user\"")) : said_by(first, "\"user\"");
  Text reply = earlier ? inside(field(noted, "\"reply\"")) : said_by(first, "\"assistant\"");
  user = beginning(user, most);
  reply = beginning(reply, most);

  /* A token has seldom less than two bytes; what the quotation costs at most is not given to history. */
  unsigned quoted = (unsigned)(user.end - user.at + reply.end - reply.at), price = quoted / 2 + 40, gone = 0;
  int telling = user.at != 0 && price < budget / 4;
  if (tokens > budget || (earlier && telling && tokens + price > budget))
    gone = leaving(exchanges, tokens, (budget - (telling ? price : 0)) / 100 * KEEP_PERCENT);
  telling = telling && gone + earlier > 0;

  put("{\"first\":");
  put_number(gone);
  put(",\"memory\":[");
  if (telling) {
    put("{\"text\":\"How this conversation began. The user: ");
    put_text(user);
    put("\\nThe reply: ");
    put_text(reply);
    put("\"}");
  }
  put("]");
  if (gone) {
    put(",\"reason\":\"");
    put_number(gone);
    put(" of ");
    put_number(all);
    put(telling ? " exchanges left; how it began is told as memory\"" : " exchanges left\"");
  }
  put("}");
  return done();
}

/* Notes the first exchange; it is the answer to every later call. */
EXPORT("ek_turn_complete") long long ek_turn_complete(const char *json, unsigned length) {
  Text input = {json, json + length}, noted = field(input, "\"state\"");
  unsigned most = 4000;
  put("{\"state\":");
  if (noted.at && *noted.at == '{') {
    put_text(noted);
  } else {
    put("{\"user\":\"");
    put_text(beginning(inside(field(input, "\"userText\"")), most));
    put("\",\"reply\":\"");
    put_text(beginning(inside(field(input, "\"reply\"")), most));
    put("\"}");
  }
  put("}");
  return done();
}
