import './app.css';
import { mount } from 'svelte';
import { openBackend, QUICK_CALLS } from '$lib/ipc';
import { App } from '$lib/state/app.svelte';
import QuickWindow from '$lib/views/QuickWindow.svelte';

const app = new App(await openBackend(QUICK_CALLS), true);
const target = document.getElementById('app');
if (target) mount(QuickWindow, { target, props: { app } });
