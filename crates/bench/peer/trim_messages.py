"""LangChain's trim_messages (PyPI langchain-core), the peer of the prompt benchmark.

    trim_messages.py

Reads lines "MESSAGES BUDGET" from standard input and answers each with one line: the milliseconds
that one trim of a conversation of so many messages to so many tokens took, and how many stayed.
Ends when standard input ends.
"""
import random
import sys
import time

from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, trim_messages
from langchain_core.messages.utils import count_tokens_approximately

WORDS = [f"word{number}" for number in range(2_000)]


def conversation(length):
    """Texts about as long as those of the seeded vault: 6 to 30 words, replies of 20 to 104."""
    chance = random.Random(7)
    messages = [SystemMessage("A calm companion with a stance of its own.")]
    for number in range(length):
        kind, least, most = (HumanMessage, 6, 30) if number % 2 == 0 else (AIMessage, 20, 104)
        messages.append(kind(" ".join(chance.choices(WORDS, k=chance.randint(least, most)))))
    messages.append(HumanMessage("And now?"))
    return messages


def main():
    made = {}
    print("ready", flush=True)
    for line in sys.stdin:
        length, budget = (int(number) for number in line.split())
        if length not in made:
            made = {length: conversation(length)}
        began = time.perf_counter()
        kept = trim_messages(
            made[length],
            max_tokens=budget,
            token_counter=count_tokens_approximately,
            strategy="last",
            start_on="human",
            include_system=True,
        )
        print(f"{(time.perf_counter() - began) * 1_000:.4f} {len(kept)}", flush=True)


if __name__ == "__main__":
    main()
