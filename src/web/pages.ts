/** The page of each address. All but the list load on demand. */
import type { Component } from 'svelte'
import HomePage from './home/HomePage.svelte'
import { whenIdle } from './navigation/idle.ts'

type PageModule = { readonly default: Component }

export const PAGES: { readonly [path: string]: () => PageModule | Promise<PageModule> } = {
  '/': () => ({ default: HomePage }),
  '/session': () => import('./conversation/ConversationPage.svelte'),
  '/chat': () => import('./chat/ChatPage.svelte'),
  '/settings': () => import('./settings/SettingsPage.svelte'),
  '/print': () => import('./print/PrintPage.svelte'),
  '/secrets': () => import('./secrets/SecretsPage.svelte'),
  '/files': () => import('./files/FilesPage.svelte'),
  '/ask': () => import('./ask/AskPage.svelte'),
  '/statistics': () => import('./statistics/StatisticsPage.svelte'),
}

/** Prefetches what a reader opens next. */
export function prefetchConversationPage(): void {
  whenIdle(() => void PAGES['/session']?.())
}
