/**
 * The prices that come with fumibako: public list prices of OpenAI and Anthropic for the standard tier. Left out are models
 * whose price is not sure or changed on days that are not known. What a subscription pays, batches, priority, surcharges for
 * very long prompts and for writing to a cache are not in them.
 */
import type { PriceList } from './prices.ts'

const GPT_5 = [{ input: 1.25, cached_input: 0.125, output: 10 }]
const GPT_5_MINI = [{ input: 0.25, cached_input: 0.025, output: 2 }]
const GPT_5_2 = [{ input: 1.75, cached_input: 0.175, output: 14 }]
const OLDER_OPUS = [{ input: 15, cached_input: 1.5, output: 75 }]
const OPUS = [{ input: 5, cached_input: 0.5, output: 25 }]
const SONNET = [{ input: 3, cached_input: 0.3, output: 15 }]

export const LIST_PRICES: PriceList = {
  as_of: '2026-11-01',
  source: 'public list prices of OpenAI and Anthropic, standard tier',
  models: {
    'gpt-5.5': [{ input: 5, cached_input: 0.5, output: 30 }],
    'gpt-5.4': [{ input: 2.5, cached_input: 0.25, output: 15 }],
    'gpt-5.4-mini': [{ input: 0.75, cached_input: 0.075, output: 4.5 }],
    'gpt-5.4-nano': [{ input: 0.2, cached_input: 0.02, output: 1.25 }],
    'gpt-5.3-codex': GPT_5_2,
    'gpt-5.2': GPT_5_2,
    'gpt-5.2-codex': GPT_5_2,
    'gpt-5.1': GPT_5,
    'gpt-5.1-codex': GPT_5,
    'gpt-5.1-codex-max': GPT_5,
    'gpt-5.1-codex-mini': GPT_5_MINI,
    'gpt-5': GPT_5,
    'gpt-5-codex': GPT_5,
    'gpt-5-mini': GPT_5_MINI,
    'gpt-5-nano': [{ input: 0.05, cached_input: 0.005, output: 0.4 }],
    'gpt-5-pro': [{ input: 15, output: 120 }],
    'codex-mini': [{ input: 1.5, cached_input: 0.375, output: 6 }],
    'gpt-4.1': [{ input: 2, cached_input: 0.5, output: 8 }],
    'gpt-4.1-mini': [{ input: 0.4, cached_input: 0.1, output: 1.6 }],
    'gpt-4.1-nano': [{ input: 0.1, cached_input: 0.025, output: 0.4 }],
    'gpt-4o': [{ from: '2024-10-02', input: 2.5, cached_input: 1.25, output: 10 }],
    'gpt-4o-2024-05-13': [{ input: 5, output: 15 }],
    'gpt-4o-mini': [{ input: 0.15, cached_input: 0.075, output: 0.6 }],
    'gpt-4-turbo': [{ input: 10, output: 30 }],
    'gpt-4': [{ input: 30, output: 60 }],
    'o4-mini': [{ input: 1.1, cached_input: 0.275, output: 4.4 }],
    o3: [
      { input: 10, cached_input: 2.5, output: 40 },
      { from: '2025-06-10', input: 2, cached_input: 0.5, output: 8 },
    ],
    'o3-pro': [{ input: 20, output: 80 }],
    'o3-mini': [{ input: 1.1, cached_input: 0.55, output: 4.4 }],
    o1: [{ input: 15, cached_input: 7.5, output: 60 }],
    'o1-mini': [{ from: '2025-02-01', input: 1.1, cached_input: 0.55, output: 4.4 }],
    'claude-opus-5': OPUS,
    'claude-opus-4-8': OPUS,
    'claude-opus-4-7': OPUS,
    'claude-opus-4-6': OPUS,
    'claude-opus-4-5': OPUS,
    'claude-opus-4-1': OLDER_OPUS,
    'claude-opus-4': OLDER_OPUS,
    'claude-opus-4-0': 'claude-opus-4',
    'claude-3-opus': OLDER_OPUS,
    'claude-sonnet-4-6': SONNET,
    'claude-sonnet-4-5': SONNET,
    'claude-sonnet-4': SONNET,
    'claude-sonnet-4-0': 'claude-sonnet-4',
    'claude-3-7-sonnet': SONNET,
    'claude-3-5-sonnet': SONNET,
    'claude-haiku-4-5': [{ input: 1, cached_input: 0.1, output: 5 }],
    'claude-3-5-haiku': [{ from: '2025-01-01', input: 0.8, cached_input: 0.08, output: 4 }],
    'claude-3-haiku': [{ input: 0.25, cached_input: 0.03, output: 1.25 }],
  },
}
