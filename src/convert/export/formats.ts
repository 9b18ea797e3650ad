/** The formats that a session can be exported to. */
import type { Format } from './material.ts'

export interface FormatEntry {
  readonly extension: string
  /** What goes between sessions in one stream; nothing where each session is a document of its own. */
  readonly between?: string
  /** Loaded when it is wanted: some bring a parser or a sanitiser along. */
  load(): Promise<Format>
}

export const FORMATS = {
  md: { extension: 'md', load: async () => (await import('./markdown/markdown.ts')).markdown },
  html: { extension: 'html', load: async () => (await import('./html/page.ts')).htmlPage },
  txt: {
    extension: 'txt',
    between: `\n${'═'.repeat(72)}\n\n`,
    load: async () => (await import('./plain.ts')).plainText,
  },
  json: { extension: 'json', between: '', load: async () => (await import('./json.ts')).json },
  sft: { extension: 'jsonl', between: '', load: async () => (await import('./sft.ts')).sft },
} as const satisfies Record<string, FormatEntry>

export type FormatName = keyof typeof FORMATS
export const FORMAT_NAMES = Object.keys(FORMATS) as readonly FormatName[]
