/** The formats that a session can be exported to. */
import type { ExportWriter } from './export-input.ts'

export interface ExportFormatEntry {
  readonly extension: string
  /** Separates sessions in one stream. Undefined if each session is a document of its own. */
  readonly between?: string
  /** Loaded on demand, because some formats need a parser or a sanitizer. */
  load(): Promise<ExportWriter>
}

export const EXPORT_FORMAT_ENTRIES = {
  md: { extension: 'md', load: async () => (await import('./markdown/markdown.ts')).exportMarkdown },
  html: { extension: 'html', load: async () => (await import('./html/page.ts')).exportHtml },
  txt: {
    extension: 'txt',
    between: `\n${'═'.repeat(72)}\n\n`,
    load: async () => (await import('./plain-text.ts')).exportPlainText,
  },
  json: { extension: 'json', between: '', load: async () => (await import('./json.ts')).exportJson },
  sft: { extension: 'jsonl', between: '', load: async () => (await import('./sft.ts')).exportSft },
  otel: { extension: 'jsonl', between: '', load: async () => (await import('./otel.ts')).exportOtel },
} as const satisfies Record<string, ExportFormatEntry>

export type ExportFormatName = keyof typeof EXPORT_FORMAT_ENTRIES
export const EXPORT_FORMAT_NAMES = Object.keys(EXPORT_FORMAT_ENTRIES) as readonly ExportFormatName[]
