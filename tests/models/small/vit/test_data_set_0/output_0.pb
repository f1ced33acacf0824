
BlogitsJ(u° >(Y¾bûÍ½ 7—½M8‚¾€x=R
¾øSX=êMµ>N-Ï<