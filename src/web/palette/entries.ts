/** The entries of the command palette: pages, actions, projects, filters and settings. */
import type { Choices } from '../../model/api/machine.ts'
import { agentName } from '../agent-names.ts'
import { post } from '../api/client.ts'
import { homeRelativePath, pathBaseName } from '../format.ts'
import { say as actions } from '../i18n/actions.ts'
import { language } from '../i18n/language.svelte.ts'
import { say as layout } from '../i18n/layout.ts'
import { say } from '../i18n/palette.ts'
import { say as settings } from '../i18n/settings.ts'
import { hrefOf } from '../navigation/address.ts'
import { runKey } from '../navigation/keyboard.ts'
import { hasKey, hasPage, isOffered } from '../navigation/offers.ts'
import { navigate } from '../navigation/router.svelte.ts'
import { theme } from '../settings/preferences.svelte.ts'
import { settingsSections } from '../settings/sections.ts'
import type { PaletteEntry } from './ranking.ts'

type EntryGroup = 'here' | 'actions' | 'projects' | 'filters' | 'settings'

const link = (id: string, text: string, href: string, key?: string): PaletteEntry => ({
  id,
  text,
  ...(key !== undefined && { key }),
  run: () => navigate(href),
})

const links = (all: readonly Parameters<typeof link>[]): readonly PaletteEntry[] =>
  all.filter(([, , href]) => hasPage(href)).map((one) => link(...one))

/** Runs what a key of the open page does. */
const shortcut = (key: string, text: string): PaletteEntry => ({ id: `key ${key}`, text, key, run: () => runKey(key) })

export function paletteEntries(
  path: string,
  choices: Choices | undefined,
  showKeys: () => void,
): { readonly [group in EntryGroup]: readonly PaletteEntry[] } {
  return {
    here: path === '/session' ? sessionEntries() : [],
    actions: [
      ...links([
        ['home', say.goTo(say.sessionsPage), '/', 'g h'],
        ['statistics', say.goTo(say.statisticsPage), '/statistics', 'g s'],
        ['files', say.goTo(say.filesPage), '/files', 'g f'],
        ['secrets', say.goTo(say.secretsPage), '/secrets'],
        ['ask', say.goTo(say.askPage), '/ask', 'g a'],
        ['chat', say.goTo(say.chatPage), '/chat', 'g t'],
      ]),
      ...(isOffered('marks') ? [link('starred', say.starred, '/?starred=1')] : []),
      link('expensive', say.expensive, '/?sort=-cost'),
      link('failing', say.failing, '/?sort=-error_count'),
      ...(isOffered('sync') ? [{ id: 'sync', text: actions.sync, run: () => post('/sync') }] : []),
      { id: 'keys', text: layout.keyboard, key: '?', run: showKeys },
    ],
    projects: (choices?.projects ?? []).map(({ value }) => ({
      id: `project ${value}`,
      text: pathBaseName(value),
      detail: homeRelativePath(value),
      run: () => navigate(hrefOf('/', { project: value })),
    })),
    filters: (['agent', 'model', 'tag'] as const).flatMap((name) =>
      (choices?.[`${name}s`] ?? []).map(({ value }) => ({
        id: `${name} ${value}`,
        text: name === 'agent' ? agentName(value) : value,
        detail: say[name],
        run: () => navigate(hrefOf('/', { [name]: value })),
      })),
    ),
    settings: [
      ...(['auto', 'light', 'dark'] as const).map((name) => ({
        id: `theme ${name}`,
        text: say.themes[name],
        run: () => theme.choose(name),
      })),
      {
        id: 'language',
        text: layout.otherLanguageHint,
        run: () => language.choose(language.current === 'ja' ? 'en' : 'ja'),
      },
      ...settingsSections().map((section) =>
        link(
          `settings ${section}`,
          `${settings.title}: ${settings.sections[section]}`,
          hrefOf('/settings', { section }),
        ),
      ),
    ],
  }
}

const sessionEntries = (): readonly PaletteEntry[] =>
  [
    shortcut('f', layout.keyFind),
    shortcut('w', layout.keyWords),
    shortcut('O', layout.keyAllSteps),
    shortcut('.', layout.keyFollow),
    shortcut('m', actions.keyMark),
    shortcut('s', actions.keyStar),
    shortcut('r', actions.keyResume),
    shortcut('e', actions.keyExport),
    shortcut('c', actions.keyConvert),
  ].filter(({ key }) => hasKey(key ?? ''))
