import { failure, type BackendError } from '../error';

/** What the scripted model does with one message. */
export interface Script {
  reasoning: string | null;
  text: string;
  /** The reply breaks off after its first half with this error. */
  breaksWith: BackendError | null;
  /** The reply ends at the model's token limit. */
  truncated: boolean;
}

const CALM = [
  'That sounds like a hard morning, and it makes sense that it is still with you.\n\nLet us look at what is in your hands right now:\n\n1. **What happened**, in one sentence, without the reasons.\n2. **What you need** before the end of the day.\n3. **One step** small enough to take in ten minutes.\n\nWhich of the three is clearest to you?',
  'I hear how much this weighs on you. Nothing has to be settled in this minute.\n\nIf you like, tell me what was said, word for word as far as you remember, and we take it apart calmly.',
  'Thank you for saying it so plainly. Being angry about this is understandable; deciding while angry is the part worth postponing.\n\nWhat would you advise a friend who told you the same?',
];

const RICH = `### A small plan

Here is a way to see it, with *weights* and a **result**:

| Option | Cost | Worth |
| :-- | --: | --: |
| Wait a week | 0 | 2 |
| Talk to her today | 3 | 5 |
| Write a letter | 1 | 4 |

The score is $s = w - \\frac{c}{2}$, so for the letter:

$$
s = 4 - \\frac{1}{2} = 3.5
$$

\`\`\`python
def score(worth: float, cost: float) -> float:
    """Worth minus half the cost."""
    return worth - cost / 2
\`\`\`

- [x] write down what happened
- [ ] sleep on it

> What is said calmly is heard longer.

More on [decision matrices](https://en.wikipedia.org/wiki/Decision_matrix).
`;

const HOSTILE =
  'Raw HTML stays text: <img src=x onerror=alert(1)> <script>alert(2)</script>\n\n[a link](javascript:alert(3)) and ![a picture](https://example.invalid/track.png)';

/** Chooses a reply by what the user wrote; `turn` keeps repeated replies apart. */
export function scriptFor(text: string, turn: number): Script {
  const has = (word: string): boolean => text.toLowerCase().includes(word);
  const script: Script = {
    reasoning: null,
    text: CALM[turn % CALM.length] ?? '',
    breaksWith: null,
    truncated: false,
  };
  if (has('markdown')) script.text = RICH;
  if (has('hostile')) script.text = HOSTILE;
  if (has('long'))
    script.text = Array.from(
      { length: 60 },
      (_, i) => `Step ${i + 1}: breathe, look, decide.`,
    ).join('\n\n');
  if (has('مرحب') || has('أنا'))
    script.text =
      'أسمعك. لنأخذ الأمر بهدوء، خطوة بعد خطوة.\n\n- **ما الذي حدث؟**\n- ما الذي تحتاجه اليوم؟';
  if (has('think'))
    script.reasoning =
      'The person is upset and asks for order. I should stay calm, name one thing, and offer one step.';
  if (has('truncate')) script.truncated = true;
  if (has('break')) {
    script.breaksWith = failure(
      'provider_broken_off',
      'The reply of 127.0.0.1:11434 ended before it was whole.',
      { address: '127.0.0.1:11434' },
    );
  }
  if (has('rate limit')) {
    script.text = '';
    script.breaksWith = failure('provider_rate_limited', 'OpenAI asks to wait 20 seconds.', {
      retryAfterSeconds: '20',
      provider: 'OpenAI',
    });
  }
  return script;
}

/** Cuts a text into the pieces it streams in. */
export function pieces(text: string): string[] {
  return text.match(/\s*\S+\s?|\s+/g) ?? [];
}

/** A plausible count of tokens. */
export function tokensOf(text: string): number {
  return Math.ceil(text.length / 4);
}
