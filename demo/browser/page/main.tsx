import { createRoot } from 'react-dom/client';
import { WholePage } from './shell/page.tsx';
import 'slack-blocks-to-jsx/dist/style.css';
import './style/base.css';
import './style/shell.css';
import './style/messages.css';
import './style/blocks.css';
import './style/dialogs.css';
import './style/panel.css';
import './style/phone.css';

const place = document.getElementById('page');
if (place) createRoot(place).render(<WholePage />);
