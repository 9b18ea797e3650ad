/** Syntax highlighting of sanitised code. Loads with the first code block. */
import hljs from 'highlight.js/lib/core'
import bash from 'highlight.js/lib/languages/bash'
import css from 'highlight.js/lib/languages/css'
import diff from 'highlight.js/lib/languages/diff'
import go from 'highlight.js/lib/languages/go'
import java from 'highlight.js/lib/languages/java'
import json from 'highlight.js/lib/languages/json'
import markdown from 'highlight.js/lib/languages/markdown'
import python from 'highlight.js/lib/languages/python'
import rust from 'highlight.js/lib/languages/rust'
import sql from 'highlight.js/lib/languages/sql'
import typescript from 'highlight.js/lib/languages/typescript'
import xml from 'highlight.js/lib/languages/xml'
import yaml from 'highlight.js/lib/languages/yaml'

const LANGUAGES = { bash, css, diff, go, java, json, markdown, python, rust, sql, typescript, xml, yaml }
for (const [name, language] of Object.entries(LANGUAGES)) hljs.registerLanguage(name, language)
hljs.registerAliases(['js', 'jsx', 'javascript', 'mjs'], { languageName: 'typescript' })
hljs.registerAliases(['console', 'shell', 'sh', 'zsh'], { languageName: 'bash' })

const MAX_CODE_LENGTH = 50_000

export function highlightCode(code: HTMLElement): void {
  const language = /language-(\S+)/.exec(code.className)?.[1]
  const text = code.textContent
  if (!language || !hljs.getLanguage(language) || text.length > MAX_CODE_LENGTH) return
  // The library escapes the text and only adds spans with classes.
  code.innerHTML = hljs.highlight(text, { language, ignoreIllegals: true }).value
}
