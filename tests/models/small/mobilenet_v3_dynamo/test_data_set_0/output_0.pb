
BlogitsJ(Ö¥’¾RKV½œ6l<Ög(¾d§c½MÇý=96T>Sý+= ³¾ÄÃ3>