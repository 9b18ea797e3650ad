/** The entry point of the page. */
import { mount } from 'svelte'
import './style/tokens.css'
import './style/base.css'
import './style/prose.css'
import App from './App.svelte'
import { escapeHostileCharactersIn } from './layout/escape-hostile-characters.ts'

escapeHostileCharactersIn(document)

mount(App, { target: document.body })
