import './app.css';
import { mount } from 'svelte';
import { openBackend } from '$lib/ipc';
import { App } from '$lib/state/app.svelte';
import QuickWindow from '$lib/views/QuickWindow.svelte';

const app = new App(await openBackend());
app.chat.keepsDrafts = false;
const target = document.getElementById('app');
if (target) mount(QuickWindow, { target, props: { app } });
