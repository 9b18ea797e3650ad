/** The APIs besides chat completions. */
import { ANTHROPIC } from './anthropic.ts'
import type { Dialect, ServerApi } from './dialect.ts'
import { RESPONSES } from './responses.ts'

export const DIALECTS: { readonly [api in Exclude<ServerApi, 'chat'>]: Dialect } = {
  responses: RESPONSES,
  anthropic: ANTHROPIC,
}
