import { test } from 'node:test';
import { smoke } from './smoke.mjs';

test('two messages are answered, and both replies are there after a restart', () => smoke());
