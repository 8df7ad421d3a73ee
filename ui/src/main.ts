import './app.css';
import { mount } from 'svelte';
import { openBackend } from '$lib/ipc';
import { App } from '$lib/state/app.svelte';
import MainWindow from '$lib/views/MainWindow.svelte';

const app = new App(await openBackend());
const target = document.getElementById('app');
if (target) mount(MainWindow, { target, props: { app } });
